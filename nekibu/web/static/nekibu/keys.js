// Keys for people who do this all day. An element with data-key="x" is clicked by x; without one, j and k walk through
// the rows of tables with data-rows (or elements with data-criterion), Enter opens the row's link, / goes to the search.

let cursor = null;

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const own = [...document.querySelectorAll(`[data-key="${CSS.escape(event.key)}"]`)].find((e) => e.offsetParent !== null);
  if (own) {
    event.preventDefault();
    own.click();
    return;
  }
  const act = { "?": help, "/": search, j: () => walk(1), k: () => walk(-1), n: () => criterion(1), p: () => criterion(-1), Enter: enter }[event.key];
  if (act?.() === true) event.preventDefault();
});

function help() {
  const dialog = document.getElementById("shortcuts");
  const list = dialog?.querySelector("[data-keys-here]");
  if (!dialog) return false;
  list.replaceChildren(
    ...[...document.querySelectorAll("[data-key]")].flatMap((element) => {
      const term = document.createElement("dt");
      const key = document.createElement("kbd");
      key.className = "kbd";
      key.textContent = element.dataset.key;
      term.append(key);
      const meaning = document.createElement("dd");
      meaning.textContent = element.dataset.keyLabel ?? element.textContent.trim();
      return [term, meaning];
    }),
  );
  dialog.showModal();
  return true;
}

function search() {
  const field = document.querySelector("main input[type=search], main [data-search]");
  field?.focus();
  return Boolean(field);
}

function walk(step) {
  const rows = [...document.querySelectorAll("[data-rows] > tbody > tr")];
  if (rows.length === 0) return criterion(step);
  return move(rows, step, (row) => row.querySelector("a")?.focus({ preventScroll: true }));
}

function criterion(step) {
  return move([...document.querySelectorAll("[data-criterion]")], step, (element) => element.focus({ preventScroll: true }));
}

function move(places, step, focus) {
  if (places.length === 0) return false;
  const at = places.indexOf(cursor?.isConnected ? cursor : document.activeElement?.closest("tr, [data-criterion]"));
  const next = places[Math.min(Math.max(at + step, 0), places.length - 1)];
  cursor?.classList.remove("is-cursor");
  cursor = next;
  next.classList.add("is-cursor");
  next.scrollIntoView({ block: "nearest" });
  focus(next);
  return true;
}

function enter() {
  if (!cursor?.isConnected || document.activeElement?.closest("a, button, summary")) return false;
  const link = cursor.querySelector("a");
  link?.click();
  return Boolean(link);
}

function typing(target) {
  if (!(target instanceof HTMLElement) || /^(radio|checkbox)$/.test(target.type ?? "")) return false; // letters mean nothing to them
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
