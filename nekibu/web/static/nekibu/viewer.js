// The document beside its criteria. A PDF is drawn page by page as it comes into view, with its cited places as boxes;
// a text carries its marks already. A click on a citation leads to the place, a click on the place to the citation.
//
// PDF: <div data-viewer="/file.pdf" data-viewer-marks="ID" data-text-failed="…">; ID names a JSON script with
// [{id, page, bbox: [x0, y0, x1, y1] in PDF points from the lower left, tone: evidence|counter, label}].
// Citation: any element with data-evidence="id". Text: <mark id="id" data-evidence="id …"> inside [data-document].

const AHEAD = "600px"; // how far before a page is seen it is drawn
const LIBRARY = new URL("./vendor/pdfjs/", import.meta.url).href;

for (const area of document.querySelectorAll("[data-viewer]")) open(area);

async function open(area) {
  const marks = JSON.parse(document.getElementById(area.dataset.viewerMarks)?.textContent ?? "[]");
  const loading = area.querySelector("[data-viewer-loading]");
  try {
    const pdfjs = await import(`${LIBRARY}pdf.min.mjs`);
    pdfjs.GlobalWorkerOptions.workerSrc = `${LIBRARY}pdf.worker.min.mjs`;
    const pdf = await pdfjs.getDocument({
      url: area.dataset.viewer,
      standardFontDataUrl: `${LIBRARY}standard_fonts/`,
      wasmUrl: `${LIBRARY}wasm/`,
      useWasm: false, // the page's policy allows no evaluation, so the plain decoders are used
      enableXfa: false,
    }).promise;
    const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
    const seen = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach((e) => draw(pdf, e.target, seen)), {
      root: area,
      rootMargin: AHEAD,
    });
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const sheet = document.createElement("div");
      sheet.className = "viewer-page";
      sheet.dataset.page = number;
      sheet.style.aspectRatio = `${first.width} / ${first.height}`;
      const label = document.createElement("span");
      label.className = "viewer-number";
      label.textContent = `${number} / ${pdf.numPages}`;
      sheet.append(label);
      area.append(sheet);
      const here = marks.filter((mark) => mark.page === number);
      if (here.length) await place(pdf, sheet, here); // boxes stand before the page is drawn, so a citation can find them
      seen.observe(sheet);
    }
    loading?.remove();
    follow(location.hash.slice(1));
  } catch (problem) {
    if (loading) loading.textContent = area.dataset.textFailed;
    console.warn("The PDF could not be opened.", problem);
  }
}

async function place(pdf, sheet, marks) {
  const view = (await pdf.getPage(Number(sheet.dataset.page))).getViewport({ scale: 1 });
  sheet.style.aspectRatio = `${view.width} / ${view.height}`;
  for (const mark of marks) {
    const [ax, ay] = view.convertToViewportPoint(mark.bbox[0], mark.bbox[1]);
    const [bx, by] = view.convertToViewportPoint(mark.bbox[2], mark.bbox[3]);
    const box = document.createElement("button");
    box.type = "button";
    box.className = "viewer-box";
    box.dataset.mark = mark.id;
    box.dataset.tone = mark.tone ?? "evidence";
    box.title = mark.label ?? "";
    box.setAttribute("aria-label", mark.label ?? "");
    box.style.left = `${(Math.min(ax, bx) / view.width) * 100}%`;
    box.style.top = `${(Math.min(ay, by) / view.height) * 100}%`;
    box.style.width = `${(Math.abs(bx - ax) / view.width) * 100}%`;
    box.style.height = `${(Math.abs(by - ay) / view.height) * 100}%`;
    sheet.append(box);
  }
}

async function draw(pdf, sheet, seen) {
  seen.unobserve(sheet);
  const page = await pdf.getPage(Number(sheet.dataset.page));
  const natural = page.getViewport({ scale: 1 });
  sheet.style.aspectRatio = `${natural.width} / ${natural.height}`;
  const density = Math.min(window.devicePixelRatio || 1, 2);
  const viewport = page.getViewport({ scale: (Math.max(sheet.clientWidth, 320) / natural.width) * density });
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(viewport.width);
  canvas.height = Math.floor(viewport.height);
  sheet.prepend(canvas);
  await page.render({ canvas, viewport }).promise;
}

// Both directions of a citation, for a PDF and for a text.
document.addEventListener("click", (event) => {
  const from = event.target instanceof Element ? event.target.closest("[data-evidence], [data-mark]") : null;
  if (!from) return;
  if (from.dataset.mark || from.closest("[data-document]")) {
    const ids = (from.dataset.mark ?? from.dataset.evidence).split(" ");
    const cited = [...document.querySelectorAll("[data-evidence]")].find((e) => !e.closest("[data-document]") && ids.includes(e.dataset.evidence));
    if (cited) lead(cited);
    light(ids);
    return;
  }
  if (follow(from.dataset.evidence)) event.preventDefault();
});

function follow(id) {
  if (!id) return false;
  const place = document.querySelector(`.viewer-box[data-mark="${CSS.escape(id)}"], [data-document] mark[id="${CSS.escape(id)}"]`) ?? document.getElementById(id)?.closest("[data-document] mark");
  if (!place) return false;
  lead(place);
  light([id]);
  return true;
}

function lead(element) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

function light(ids) {
  for (const element of document.querySelectorAll("[data-mark], [data-evidence]")) {
    const own = (element.dataset.mark ?? element.dataset.evidence).split(" ");
    element.classList.toggle("is-active", own.some((id) => ids.includes(id)));
  }
}

if (document.querySelector("[data-document]")) follow(location.hash.slice(1));
