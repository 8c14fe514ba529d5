// Live progress. <div data-live-url="/live/…/"> opens a socket; each message is one JSON object, and element
// data-live="a.b" inside shows field "b" as its text, or as the attribute named by data-live-attr. The server sends the
// whole state on every connection, so nothing is missed; parts with data-live-refresh are read again over HTTP after a
// break, and once more when everything has ended; then parts with data-live-working disappear.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15000;
const REFUSED = [4401, 4403, 4404];

for (const area of document.querySelectorAll("[data-live-url]")) connect(area, FIRST_PAUSE, false);

function connect(area, pause, again) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${area.dataset.liveUrl}`);
  let wait = pause;
  socket.addEventListener("open", () => {
    wait = FIRST_PAUSE;
    area.dataset.liveState = "open";
    if (again) reread(area);
  });
  socket.addEventListener("message", (event) => show(area, JSON.parse(event.data)));
  socket.addEventListener("close", (event) => {
    area.dataset.liveState = "lost";
    if (REFUSED.includes(event.code)) return;
    const jitter = 0.75 + Math.random() / 2; // many pages, one restarted server
    setTimeout(() => connect(area, Math.min(wait * 2, LONGEST_PAUSE), true), wait * jitter);
  });
}

function reread(area) {
  for (const part of [area, ...document.querySelectorAll("[data-live-refresh]")]) {
    if (part.hasAttribute("hx-get")) window.htmx?.trigger(part, "refresh");
  }
}

/** A number as the page's language writes it. */
function said(value) {
  return typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : value;
}

function show(area, values) {
  for (const element of area.querySelectorAll("[data-live]")) {
    const name = element.dataset.live.split(".").pop();
    if (!(name in values)) continue;
    if (element.dataset.liveAttr) element.setAttribute(element.dataset.liveAttr, values[name]);
    else element.textContent = said(values[name]);
  }
  area.dispatchEvent(new CustomEvent("nekibu:live", { bubbles: true, detail: values }));
  const ended = values.total > 0 && values.ended === values.total;
  if (ended && !area.dataset.liveDone) {
    area.dataset.liveDone = "1";
    for (const element of document.querySelectorAll("[data-live-working]")) element.hidden = true;
    reread(area);
  }
}
