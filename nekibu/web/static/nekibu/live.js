// Live progress: one socket per page element with data-live-url; values land where data-live names them.

for (const area of document.querySelectorAll("[data-live-url]")) connect(area, 500);

function connect(area, pause) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${area.dataset.liveUrl}`);
  socket.addEventListener("open", () => (pause = 500));
  socket.addEventListener("message", (event) => show(area, JSON.parse(event.data)));
  socket.addEventListener("close", (event) => {
    if (event.code === 4404) return;
    setTimeout(() => connect(area, Math.min(pause * 2, 15000)), pause);
  });
}

function show(area, values) {
  for (const element of area.querySelectorAll("[data-live]")) {
    const name = element.dataset.live.split(".").pop();
    if (!(name in values)) continue;
    if (element.dataset.liveAttr) element.setAttribute(element.dataset.liveAttr, values[name]);
    else element.textContent = values[name];
  }
  if (values.total !== undefined && values.ended === values.total && area.dataset.liveDone !== "1") {
    area.dataset.liveDone = "1";
    if (area.dataset.liveReload !== undefined) location.reload();
  }
}
