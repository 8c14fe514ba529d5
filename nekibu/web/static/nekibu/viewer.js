// The original on the page: PDF pages drawn as they come into view, with the cited places marked.

import * as pdfjs from "./vendor/pdfjs/pdf.min.mjs";

pdfjs.GlobalWorkerOptions.workerSrc = new URL("./vendor/pdfjs/pdf.worker.min.mjs", import.meta.url).href;

for (const area of document.querySelectorAll("[data-viewer]")) open(area);

async function open(area) {
  const marks = JSON.parse(document.getElementById(area.dataset.viewerMarks)?.textContent ?? "[]");
  try {
    const pdf = await pdfjs.getDocument({ url: area.dataset.viewer, isEvalSupported: false }).promise;
    for (let number = 1; number <= pdf.numPages; number += 1) await add(area, pdf, number, marks);
    area.querySelector("[data-viewer-loading]")?.remove();
  } catch {
    const note = area.querySelector("[data-viewer-loading]");
    if (note) note.textContent = area.dataset.textFailed;
  }
  document.addEventListener("click", (event) => {
    const from = event.target.closest?.("[data-evidence]");
    if (!from) return;
    const box = area.querySelector(`[data-mark="${CSS.escape(from.dataset.evidence)}"]`);
    if (box && area.offsetParent !== null) {
      event.preventDefault();
      box.scrollIntoView({ block: "center", behavior: "smooth" });
      box.classList.add("is-cursor");
      setTimeout(() => box.classList.remove("is-cursor"), 1600);
    }
  });
}

async function add(area, pdf, number, marks) {
  const page = await pdf.getPage(number);
  const natural = page.getViewport({ scale: 1 });
  const scale = Math.max(0.4, (area.clientWidth - 2) / natural.width);
  const viewport = page.getViewport({ scale });
  const holder = document.createElement("div");
  holder.className = "viewer-page";
  const canvas = document.createElement("canvas");
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.floor(viewport.width * density);
  canvas.height = Math.floor(viewport.height * density);
  holder.append(canvas);
  area.append(holder);
  const over = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  over.setAttribute("class", "viewer-box");
  over.setAttribute("viewBox", `0 0 ${natural.width} ${natural.height}`);
  for (const mark of marks.filter((m) => m.page === number)) {
    const [x0, y0, x1, y1] = mark.bbox;
    const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    box.setAttribute("x", x0);
    box.setAttribute("y", natural.height - y1);
    box.setAttribute("width", x1 - x0);
    box.setAttribute("height", y1 - y0);
    box.dataset.mark = mark.id;
    over.append(box);
  }
  holder.append(over);
  const watch = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    await page.render({ canvas, viewport: page.getViewport({ scale: scale * density }) }).promise;
  });
  watch.observe(holder);
}
