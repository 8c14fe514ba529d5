// Triage by keyboard, beside the keys of every page: o opens the marked question, x chooses it for giving away; on a
// question c walks through the other answers. A key chooses, it never sends: that takes Ctrl+Enter or the button.

const picked = document.querySelector("[data-picked]");
const boxes = () => [...document.querySelectorAll("input[name=ids][form=assign]")];

document.addEventListener("keydown", (event) => {
  const form = document.querySelector("form[data-decide]");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form?.contains(event.target)) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const act = { o: open, x: pick, c: another }[event.key];
  if (act?.(form) === true) event.preventDefault();
});

function open() {
  const link = marked()?.querySelector("a.row-link");
  link?.click();
  return Boolean(link);
}

function pick() {
  const box = marked()?.querySelector("input[name=ids]");
  box?.click();
  return Boolean(box);
}

function marked() {
  return document.querySelector("[data-rows] tr.is-cursor") ?? document.activeElement?.closest("[data-rows] tr");
}

function another(form) {
  const others = [...(form?.querySelectorAll("[data-change] input") ?? [])];
  if (others.length === 0) return false;
  const next = others[(others.findIndex((input) => input.checked) + 1) % others.length];
  next.checked = true;
  next.focus();
  return true;
}

// Who has chosen says why next.
document.querySelector("form[data-decide]")?.addEventListener("click", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.name === "answer" && !event.isTrusted) {
    event.currentTarget.querySelector("textarea[name=reason]")?.focus();
  }
});

document.addEventListener("change", (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  if (event.target.matches("[data-pick-all]")) {
    for (const box of event.target.closest("section").querySelectorAll("input[name=ids]")) box.checked = event.target.checked;
  }
  if (event.target.matches("[data-pick-all], input[name=ids]")) count();
});

function count() {
  const chosen = boxes().filter((box) => box.checked);
  if (picked) picked.textContent = chosen.length;
  document.getElementById("assign")?.classList.toggle("is-needed", chosen.length > 0);
  for (const section of document.querySelectorAll("section:has([data-pick-all])")) {
    const own = [...section.querySelectorAll("input[name=ids]")];
    const all = section.querySelector("[data-pick-all]");
    all.checked = own.every((box) => box.checked);
    all.indeterminate = !all.checked && own.some((box) => box.checked);
  }
}

for (const label of document.querySelectorAll(".pick-all")) label.hidden = false;
addEventListener("pageshow", count);
count();

function typing(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
