"""Draws a CV as PDF with reportlab: one column, two columns in either drawing order, ruled tables, scans."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from samples.content import CV, Entry, Line, Section
from samples.shown import Hidden, Rendered, Shown

MEDIA_TYPE = "application/pdf"
FONT_DIR = Path("/usr/share/fonts/truetype/dejavu")
REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 48.0
SCAN_DPI = 120
NAME_SIZE = 15.0
RIGHT_COLUMN = ("education", "skills", "languages", "certificates", "other", "personal")
SCANNED_PART = ("languages", "certificates", "other")


class FontMissing(RuntimeError):
    """The DejaVu fonts are not installed; on Debian: apt-get install fonts-dejavu-core."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One physical line with its place on the page; y is the baseline."""

    page: int
    x: float
    y: float
    text: str
    font: str
    size: float


@dataclass(frozen=True, slots=True)
class Box:
    """A ruled rectangle of a table cell."""

    page: int
    x: float
    y: float
    width: float
    height: float


class Pen:
    """Writes lines downwards in one column and remembers what was placed and shown."""

    def __init__(self, x: float, width: float, top: float, size: float, page: int = 1) -> None:
        self.x, self.width, self.size, self.page = x, width, size, page
        self.leading = round(size * 1.36, 2)
        self.y = top
        self.placed: list[Placed] = []
        self.shown: list[Shown] = []

    def write(self, line: Line, size: float | None = None) -> None:
        """Breaks the line at the column's width and sets it; a full page continues on the next."""
        size = size or self.size
        font = BOLD if line.style == "head" else REGULAR
        lead, text = ("• ", line.text) if line.style == "bullet" else ("", line.text)
        indent = pdfmetrics.stringWidth(lead, font, size)
        parts = wrapped(text, font, size, self.width - indent)
        if self.y - len(parts) * self.leading < MARGIN - 8:
            self.page, self.y = self.page + 1, HEIGHT - MARGIN
        first_page = self.page
        for place, part in enumerate(parts):
            self.y -= self.leading
            if place == 0:
                self.placed.append(Placed(self.page, self.x, self.y, lead + part, font, size))
            else:
                self.placed.append(Placed(self.page, self.x + indent, self.y, part, font, size))
        self.shown.append(Shown(line, first_page, tuple(parts)))

    def skip(self, lines: float = 0.5) -> None:
        self.y -= self.leading * lines

    def section(self, section: Section) -> None:
        self.skip()
        self.write(section.title)
        for line in section.lines:
            self.write(line)
        for entry in section.entries:
            for line in entry.lines():
                self.write(line)


def wrapped(text: str, font: str, size: float, width: float) -> list[str]:
    """Greedy line breaks at blanks."""
    parts: list[str] = []
    current = ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if current and pdfmetrics.stringWidth(longer, font, size) > width:
            parts.append(current)
            current = word
        else:
            current = longer
    return [*parts, current]


def load_fonts() -> None:
    """Registers each weight of DejaVu Sans that is not known yet; raises FontMissing where the package is not installed."""
    known = pdfmetrics.getRegisteredFontNames()
    for name in (REGULAR, BOLD):
        if name in known:
            continue
        path = FONT_DIR / f"{name}.ttf"
        if not path.is_file():
            raise FontMissing(f"{path} is missing; on Debian: apt-get install fonts-dejavu-core")
        pdfmetrics.registerFont(TTFont(name, str(path)))


def render(cv: CV) -> Rendered:
    """The CV as PDF in its plan's layout; the same CV gives the same bytes."""
    load_fonts()
    layout = cv.plan.layout
    if layout == "pdf-scan":
        return _scan(cv)
    if layout == "pdf-mixed":
        return _mixed(cv)
    if layout in ("pdf-two-rows", "pdf-two-columns"):
        placed, shown = _two_columns(cv)
        boxes: list[Box] = []
        if layout == "pdf-two-rows":
            placed = sorted(placed, key=lambda p: (p.page, -p.y, p.x))
    elif layout == "pdf-table":
        placed, shown, boxes = _table(cv)
    else:
        pen = _header(cv)
        for section in cv.sections:
            pen.section(section)
        placed, shown, boxes = pen.placed, pen.shown, []
    body = _draw(cv, placed, boxes)
    hidden = tuple(Hidden(text, 1, _how(cv)) for text in cv.hidden)
    return Rendered(body, MEDIA_TYPE, max(p.page for p in placed), tuple(shown), hidden)


def _header(cv: CV, size: float = 9.0) -> Pen:
    pen = Pen(MARGIN, WIDTH - 2 * MARGIN, HEIGHT - MARGIN + 6, size)
    pen.write(cv.name, NAME_SIZE)
    pen.skip(0.2)
    pen.write(cv.headline)
    pen.write(cv.contact)
    return pen


def _two_columns(cv: CV) -> tuple[list[Placed], list[Shown]]:
    header = _header(cv)
    top = header.y - 10
    left = Pen(MARGIN, 310, top, 8.5)
    right = Pen(MARGIN + 336, WIDTH - 2 * MARGIN - 336, top, 8.5)
    for section in cv.sections:
        (right if section.key in RIGHT_COLUMN else left).section(section)
    return header.placed + left.placed + right.placed, header.shown + left.shown + right.shown


def _table(cv: CV) -> tuple[list[Placed], list[Shown], list[Box]]:
    pen = _header(cv)
    boxes: list[Box] = []
    for section in cv.sections:
        if section.key == "experience":
            pen.skip()
            pen.write(section.title)
            pen.skip(0.3)
            for entry in section.entries:
                boxes.extend(_row(pen, _cells(entry), (116, 130, WIDTH - 2 * MARGIN - 246)))
            pen.skip(0.3)
        elif section.key == "languages":
            pen.skip()
            pen.write(section.title)
            pen.skip(0.3)
            for line in section.lines:
                boxes.extend(_row(pen, [[line]], (240,)))
            pen.skip(0.3)
        else:
            pen.section(section)
    return pen.placed, pen.shown, boxes


def _cells(entry: Entry) -> list[list[Line]]:
    return [[entry.dates], [entry.head], list(entry.bullets)]


def _row(pen: Pen, cells: list[list[Line]], widths: tuple[float, ...]) -> Iterator[Box]:
    """Sets one row; every cell starts on the same baseline. A row never breaks over a page."""
    trial = [_column(pen, x, width, lines) for x, width, lines in _places(pen, cells, widths)]
    if min(cell.y for cell in trial) < MARGIN or any(cell.page != pen.page for cell in trial):
        pen.page, pen.y = pen.page + 1, HEIGHT - MARGIN
        trial = [_column(pen, x, width, lines) for x, width, lines in _places(pen, cells, widths)]
    bottom = min(cell.y for cell in trial) - 5
    for cell, width in zip(trial, widths, strict=True):
        pen.placed.extend(cell.placed)
        pen.shown.extend(cell.shown)
        yield Box(pen.page, cell.x - 4, bottom, width, pen.y - bottom)
    pen.y = bottom


def _places(
    pen: Pen, cells: list[list[Line]], widths: tuple[float, ...]
) -> Iterator[tuple[float, float, list[Line]]]:
    x = pen.x
    for lines, width in zip(cells, widths, strict=True):
        yield x + 4, width - 8, lines
        x += width


def _column(pen: Pen, x: float, width: float, lines: list[Line]) -> Pen:
    cell = Pen(x, width, pen.y - 1, 8.0, pen.page)
    for line in lines:
        cell.write(line)
    return cell


def _how(cv: CV) -> str:
    return "render_mode_3" if "hidden_mode3" in cv.plan.traps else "white_1pt"


def _canvas(buffer: io.BytesIO, cv: CV) -> Canvas:
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1, pageCompression=1)
    canvas.setTitle(cv.person.name)
    canvas.setCreator("nekibu samples")
    return canvas


def _draw(cv: CV, placed: list[Placed], boxes: Iterable[Box]) -> bytes:
    buffer = io.BytesIO()
    canvas = _canvas(buffer, cv)
    _draw_pages(canvas, cv, placed, list(boxes))
    canvas.save()
    return buffer.getvalue()


def _draw_pages(canvas: Canvas, cv: CV, placed: list[Placed], boxes: list[Box]) -> None:
    dark = "white_on_dark" in cv.plan.traps
    for page in range(1, max(p.page for p in placed) + 1):
        if dark and page == 1:
            canvas.setFillGray(0.15)
            bottom = next(p.y for p in placed if p.size == NAME_SIZE) - 5
            canvas.rect(0, bottom, WIDTH, HEIGHT - bottom, stroke=0, fill=1)
        for place, line in enumerate(p for p in placed if p.page == page):
            white = dark and page == 1 and line.size == NAME_SIZE
            canvas.setFillGray(1 if white else 0.1)
            canvas.setFont(line.font, line.size)
            canvas.drawString(line.x, line.y, line.text)
            if page == 1 and place == 4:
                _hide(canvas, cv)
        canvas.setStrokeGray(0.6)
        for box in boxes:
            if box.page == page:
                canvas.rect(box.x, box.y, box.width, box.height)
        canvas.showPage()


def _hide(canvas: Canvas, cv: CV) -> None:
    for text in cv.hidden:
        if _how(cv) == "render_mode_3":
            quiet = canvas.beginText(MARGIN, 30)
            quiet.setFont(REGULAR, 10)
            quiet.setTextRenderMode(3)
        else:
            quiet = canvas.beginText(MARGIN, HEIGHT - 24)
            quiet.setFont(REGULAR, 1)
            quiet.setFillGray(1)
        quiet.textLine(text)
        quiet.setTextRenderMode(0)
        canvas.drawText(quiet)


def _photographed(cv: CV, placed: list[Placed]) -> list[ImageReader]:
    """The pages as grey pictures, the way a flatbed scanner leaves them."""
    document = pypdfium2.PdfDocument(_draw(cv, placed, []))
    pictures = []
    for page in document:
        picture = page.render(scale=SCAN_DPI / 72).to_pil().convert("L")
        buffer = io.BytesIO()
        picture.save(buffer, format="JPEG", quality=72)
        buffer.seek(0)
        pictures.append(ImageReader(buffer))
    document.close()
    return pictures


def _scan(cv: CV) -> Rendered:
    pen = _header(cv, 10.0)
    for section in cv.sections:
        pen.section(section)
    buffer = io.BytesIO()
    canvas = _canvas(buffer, cv)
    for picture in _photographed(cv, pen.placed):
        canvas.drawImage(picture, 0, 0, WIDTH, HEIGHT)
        canvas.showPage()
    canvas.save()
    return Rendered(buffer.getvalue(), MEDIA_TYPE, pen.page, tuple(_as_scanned(pen.shown, 0)))


def _mixed(cv: CV) -> Rendered:
    pen = _header(cv)
    second = Pen(MARGIN, WIDTH - 2 * MARGIN, HEIGHT - MARGIN, 10.0)
    for section in cv.sections:
        (second if section.key in SCANNED_PART else pen).section(section)
    buffer = io.BytesIO()
    canvas = _canvas(buffer, cv)
    _draw_pages(canvas, cv, pen.placed, [])
    for picture in _photographed(cv, second.placed):
        canvas.drawImage(picture, 0, 0, WIDTH, HEIGHT)
        canvas.showPage()
    canvas.save()
    shown = [*pen.shown, *_as_scanned(second.shown, pen.page)]
    return Rendered(buffer.getvalue(), MEDIA_TYPE, pen.page + second.page, tuple(shown))


def _as_scanned(shown: Iterable[Shown], pages_before: int) -> Iterator[Shown]:
    for item in shown:
        yield Shown(item.line, item.page + pages_before, item.parts, scanned=True)
