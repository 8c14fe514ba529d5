// Choosing passages by hand. While a form that asks for them is open, the text shows the number of each passage; a click
// on a number puts it into the form's field, another click takes it out. Field: input[name=pieces] inside <details>.
// Numbers: <button class="piece" data-piece="E12"> inside [data-document].

const MOST = 4; // passages in one answer; the server says so too
const text = document.querySelector("[data-document]");
let field = null;

if (text) {
  document.addEventListener("toggle", choose, true); // it does not bubble
  document.addEventListener("focusin", (event) => choose(event));
  document.addEventListener("input", (event) => event.target === field && show());
  text.addEventListener("click", (event) => {
    const piece = event.target instanceof Element ? event.target.closest("[data-piece]") : null;
    if (piece) turn(piece.dataset.piece);
  });
  choose();
}

/** The field that numbers go to: of the form that is touched, else of the last one that is open. */
function choose(event) {
  const near = event?.target instanceof Element ? event.target.closest("details") : null;
  const open = [...document.querySelectorAll("details[open] input[name=pieces]")];
  const touched = open.find((input) => near?.contains(input));
  field = touched ?? (open.includes(field) ? field : (open.at(-1) ?? null));
  show();
}

function turn(number) {
  if (!field?.isConnected) return;
  const held = numbers();
  const kept = held.filter((other) => other !== number);
  if (kept.length === held.length && kept.length < MOST) kept.push(number);
  field.value = kept.join(", ");
  show();
}

function numbers() {
  return (field?.value ?? "")
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((word) => (word.startsWith("E") ? word : `E${word}`));
}

function show() {
  text.classList.toggle("is-choosing", Boolean(field));
  const held = numbers();
  for (const piece of text.querySelectorAll("[data-piece]")) piece.setAttribute("aria-pressed", String(held.includes(piece.dataset.piece)));
}
