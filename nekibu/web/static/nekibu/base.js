// What every page does: dialogs, toasts, copy, appearance, busy buttons, polling that rests in a hidden tab.

const body = document.body;
const toasts = document.getElementById("toasts");

/** Show a message at the corner; errors stay until they are closed. */
export function toast(text, tone = "info") {
  const box = document.createElement("div");
  box.className = `notice tone-${tone}`;
  box.dataset.toast = "";
  const words = document.createElement("div");
  words.className = "notice-body";
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-ghost btn-xs btn-square";
  close.dataset.dismiss = "";
  close.setAttribute("aria-label", toasts.dataset.closeLabel);
  close.textContent = "×";
  box.append(words, close);
  toasts.append(box);
  rest(box);
}

function rest(box) {
  if (!box.classList.contains("tone-error")) setTimeout(() => box.remove(), 8000);
}
toasts?.querySelectorAll("[data-toast]").forEach(rest);

document.addEventListener("nekibu:toast", (event) => toast(event.detail.text, event.detail.tone));

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const opener = target?.closest("[data-open]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.open)?.showModal();
    return;
  }
  const closer = target?.closest("[data-close]");
  if (closer) {
    closer.closest("dialog")?.close();
    return;
  }
  if (target instanceof HTMLDialogElement) {
    const edge = target.getBoundingClientRect();
    const inside = event.clientX >= edge.left && event.clientX <= edge.right && event.clientY >= edge.top && event.clientY <= edge.bottom;
    if (!inside && event.detail > 0) target.close();
    return;
  }
  target?.closest("[data-dismiss]")?.closest("[data-toast], .notice")?.remove();
  const copier = target?.closest("[data-copy]");
  if (copier) copy(copier);
});

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.querySelector("span");
  if (!label || label.dataset.before) return;
  label.dataset.before = label.textContent;
  label.textContent = button.dataset.copied;
  setTimeout(() => {
    label.textContent = label.dataset.before;
    delete label.dataset.before;
  }, 1600);
}

// Appearance: the server writes data-theme, so no page flashes; here only the change without a reload.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-theme-form]")) {
    event.preventDefault();
    chooseTheme(form, event.submitter?.value ?? "system");
    return;
  }
  if (event.defaultPrevented || form.hasAttribute("hx-post") || form.hasAttribute("hx-get")) return;
  if (form.dataset.sent) event.preventDefault();
  if (form.method !== "post") return;
  form.dataset.sent = "1";
  event.submitter?.setAttribute("aria-busy", "true");
});

function chooseTheme(form, theme) {
  const root = document.documentElement;
  const age = theme === "system" ? 0 : 31536000;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `nekibu_theme=${theme};path=/;max-age=${age};samesite=lax${secure}`;
  if (theme === "system") root.removeAttribute("data-theme");
  else root.dataset.theme = theme;
  for (const button of form.querySelectorAll("[name=theme]")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

// data-fill-NAME="value" writes a value into the form's field of that name.
document.addEventListener("click", (event) => {
  const filler = event.target instanceof Element ? event.target.closest("[data-fill-username]") : null;
  if (!filler) return;
  for (const name of ["username", "password"]) {
    const field = document.querySelector(`input[name=${name}]`);
    if (field) field.value = filler.dataset[`fill${name[0].toUpperCase()}${name.slice(1)}`];
  }
  document.querySelector("form .btn-primary")?.focus();
});

// A page that comes back from the browser's memory may be sent again.
addEventListener("pageshow", () => {
  document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
  document.querySelectorAll("[aria-busy=true]").forEach((element) => element.removeAttribute("aria-busy"));
});

// htmx: polling rests while nobody looks; a failure is said once, and never for a poll.
body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.hasAttribute("data-poll") && document.hidden) event.preventDefault();
});
for (const name of ["htmx:responseError", "htmx:sendError"]) {
  body.addEventListener(name, (event) => {
    if (event.detail.elt.hasAttribute("data-poll")) return;
    toast(name === "htmx:sendError" ? toasts.dataset.offline : toasts.dataset.failed, "error");
  });
}

// Filter forms send themselves when a choice changes.
document.addEventListener("change", (event) => {
  event.target.closest?.("form[data-auto]")?.requestSubmit();
});
