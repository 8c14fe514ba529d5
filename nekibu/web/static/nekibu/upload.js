// Many files at once: each with its own progress, its own answer and its own second try. Everything is configured by
// data attributes of templates/components/dropzone.html. The server answers JSON: {state?, url?} or {message, url?}.

const PARALLEL = 3;

for (const area of document.querySelectorAll("[data-upload]")) start(area);

function start(area) {
  const zone = area.querySelector(".dropzone");
  const input = area.querySelector("input[type=file]");
  const queue = [];
  const counts = { total: 0, done: 0, failed: 0 };
  let running = 0;

  input.addEventListener("change", () => add([...input.files]));
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("is-over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("is-over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("is-over");
    add([...event.dataTransfer.files]);
  });

  addEventListener("beforeunload", (event) => {
    if (running || queue.length) event.preventDefault();
  });

  function add(files) {
    for (const file of files) {
      counts.total += 1;
      const item = row(area, file);
      if (file.size > Number(area.dataset.uploadMax)) fail(item, area.dataset.textTooLarge);
      else if (file.size === 0) fail(item, area.dataset.textEmpty);
      else queue.push({ file, item });
    }
    input.value = "";
    summary();
    pump();
  }

  function pump() {
    while (running < PARALLEL && queue.length) {
      running += 1;
      send(queue.shift());
    }
  }

  function send(entry) {
    const { file, item } = entry;
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append(area.dataset.uploadField, file, file.name);
    request.open("POST", area.dataset.upload);
    request.setRequestHeader("X-CSRFToken", document.querySelector("meta[name=csrf-token]").content);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) item.bar.value = event.loaded / event.total;
      item.note.textContent = event.loaded === event.total ? area.dataset.textReading : area.dataset.textSending;
    });
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      // A session that ended leads to the sign-in page: 200, but not an answer.
      if (answer && request.status >= 200 && request.status < 300) succeed(item, answer);
      else fail(item, answer?.message ?? area.dataset.textFailed, !answer || request.status >= 500 || request.status === 429 ? entry : null, answer?.url);
      next();
    });
    request.addEventListener("error", () => {
      fail(item, area.dataset.textOffline, entry);
      next();
    });
    item.note.textContent = area.dataset.textSending;
    request.send(form);
  }

  function next() {
    running -= 1;
    summary();
    pump();
    if (running || queue.length) return;
    area.dispatchEvent(new CustomEvent("nekibu:uploaded", { bubbles: true, detail: { ...counts } }));
    if (counts.done && area.dataset.uploadAfter) refresh(area.dataset.uploadAfter);
  }

  function succeed(item, answer) {
    counts.done += 1;
    item.row.dataset.state = "done";
    item.bar.value = 1;
    item.note.textContent = answer.state ?? area.dataset.textDone;
    if (answer.url) item.note.append(" ", link(answer.url, area.dataset.textOpen));
  }

  function fail(item, text, again = null, url = null) {
    counts.failed += 1;
    item.row.dataset.state = "failed";
    item.note.textContent = text;
    if (url) item.note.append(" ", link(url, area.dataset.textOpen));
    if (!again) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link-button";
    button.textContent = area.dataset.textRetry;
    button.addEventListener("click", () => {
      counts.failed -= 1;
      delete item.row.dataset.state;
      item.bar.value = 0;
      queue.push(again);
      summary();
      pump();
    });
    item.note.append(" ", button);
  }

  function summary() {
    const text = area.dataset.textSummary;
    area.querySelector("[data-upload-summary]").textContent = text
      .replace("%(done)s", counts.done)
      .replace("%(total)s", counts.total)
      .replace("%(failed)s", counts.failed);
  }
}

function row(area, file) {
  const element = document.createElement("div");
  element.className = "upload-item";
  const name = document.createElement("span");
  name.className = "upload-name";
  name.textContent = file.name;
  const bar = document.createElement("progress");
  bar.className = "bar";
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", file.name);
  const note = document.createElement("span");
  note.className = "upload-note";
  note.textContent = area.dataset.textWaiting;
  element.append(name, bar, note);
  area.querySelector("[data-upload-list]").append(element);
  return { row: element, bar, note };
}

function refresh(selector) {
  const target = document.querySelector(selector);
  if (target && window.htmx) window.htmx.trigger(target, "refresh");
  else location.reload();
}

function link(url, text) {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.textContent = text;
  return anchor;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
