// Keys for people who do this all day: j and k for next and previous, ? for the list of keys.

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || typing(event.target)) return;
  if (event.key === "?") {
    document.getElementById("shortcuts")?.showModal();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const element = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!element) return;
  event.preventDefault();
  element.click();
});

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
