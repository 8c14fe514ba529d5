"""PDF by PDFium's characters: every glyph with its box, colour, size and mode; reading order is ours."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from nekibu.files.parsers.base import Box, CannotRead, Hidden, Line, PageLines
from nekibu.files.parsers.columns import Glyph, reading_order
from nekibu.files.parsers.hidden import CONTRAST, RGB, SMALLEST, contrast

WHITE: RGB = (255, 255, 255)
MODE_INVISIBLE = 3


@dataclass(frozen=True, slots=True)
class _Painted:
    box: Box
    colour: RGB


def read(path: Path, max_pages: int) -> tuple[list[PageLines], list[Hidden]]:
    """Pages with lines in reading order, and hidden text. Raises CannotRead: encrypted, corrupt, too_many_pages."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as broken:
        raise CannotRead("encrypted" if "assword" in str(broken) else "corrupt") from broken
    with document:
        if len(document) > max_pages:
            raise CannotRead("too_many_pages")
        pages: list[PageLines] = []
        hidden: list[Hidden] = []
        for number in range(len(document)):
            page = document[number]
            lines, lost = _page(page, number + 1)
            pages.append(lines)
            hidden += lost
            page.close()
        return pages, hidden


def _page(page: Any, number: int) -> tuple[PageLines, list[Hidden]]:
    width, height = page.get_size()
    painted, rules, image_share = _surroundings(page, width, height)
    text = page.get_textpage()
    visible: list[Glyph] = []
    unseen: list[tuple[str, str]] = []
    invisible: list[Glyph] = []
    for char, box, size, colour, alpha, mode, generated in _characters(text):
        if generated:
            if unseen and char.isspace():
                unseen.append((unseen[-1][0], " "))
            continue
        glyph = Glyph(char, *box, size)
        reason = _reason(box, size, colour, alpha, mode, painted, width, height)
        if not char.isspace() and reason == "render_mode":
            invisible.append(glyph)
            unseen.append((reason, char))
        elif reason and not char.isspace():
            unseen.append((reason, char))
        elif reason:
            unseen.append((reason, " "))
        else:
            visible.append(glyph)
    text.close()
    ocr_layer = image_share > 0.5 and len(invisible) > 20 and len(visible) < 50
    if ocr_layer:
        visible += invisible
        unseen = [u for u in unseen if u[0] != "render_mode"]
    rows = reading_order([g for g in visible if g.char >= " " or g.char.isspace()], rules)
    lines = tuple(Line(row.text, number, row.bbox, "row" if len(row.runs) > 1 else "line") for row in rows)
    return PageLines(number, width, height, lines, image_share, ocr_layer), list(_hidden(unseen, number))


def _characters(text: Any) -> Iterator[tuple[str, Box, float, RGB, int, int, bool]]:
    loose = raw.FS_RECTF()
    r, g, b, a = (ctypes.c_uint() for _ in range(4))
    high = 0
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, index)
        if 0xD800 <= code <= 0xDBFF:
            high = code
            continue
        if 0xDC00 <= code <= 0xDFFF and high:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        high = 0
        generated = raw.FPDFText_IsGenerated(text, index) == 1
        raw.FPDFText_GetLooseCharBox(text, index, loose)
        size = abs(loose.top - loose.bottom) or raw.FPDFText_GetFontSize(text, index)
        if not raw.FPDFText_GetFillColor(text, index, r, g, b, a):
            r.value = g.value = b.value = 0
            a.value = 255
        thing = raw.FPDFText_GetTextObject(text, index)
        mode = raw.FPDFTextObj_GetTextRenderMode(thing) if thing else 0
        # The loose box is the advance and the font's height: neighbours touch, and "a" and "Ğ" share a baseline.
        box = (min(loose.left, loose.right), min(loose.bottom, loose.top), max(loose.left, loose.right), max(loose.bottom, loose.top))
        char = "\ufffd" if code in {0, 0xFFFE, 0xFFFF} else chr(code)
        if char == "\u0002":  # PDFium's mark for a hyphen at the end of a line
            char = "-"
        yield char, box, size, (r.value, g.value, b.value), a.value, mode, generated or char in "\r\n"


def _surroundings(page: Any, width: float, height: float) -> tuple[list[_Painted], list[float], float]:
    painted: list[_Painted] = []
    rules: list[float] = []
    images = 0.0
    r, g, b, a = (ctypes.c_uint() for _ in range(4))
    for thing in page.get_objects(max_depth=2):
        x0, y0, x1, y1 = thing.get_bounds() if hasattr(thing, "get_bounds") else thing.get_pos()
        if thing.type == raw.FPDF_PAGEOBJ_IMAGE:
            images += max(0.0, min(x1, width) - max(x0, 0)) * max(0.0, min(y1, height) - max(y0, 0))
        elif thing.type == raw.FPDF_PAGEOBJ_PATH:
            if y1 - y0 < 2.5 and x1 - x0 > 60:
                rules.append((y0 + y1) / 2)
            elif y1 - y0 > 40 and x1 - x0 > 60:
                rules += [y0, y1]
            fill, stroke = ctypes.c_int(), ctypes.c_int()
            raw.FPDFPath_GetDrawMode(thing, fill, stroke)
            if fill.value and (x1 - x0) * (y1 - y0) > 20 and raw.FPDFPageObj_GetFillColor(thing, r, g, b, a) and a.value > 200:
                painted.append(_Painted((x0, y0, x1, y1), (r.value, g.value, b.value)))
    return painted, rules, min(1.0, images / (width * height or 1.0))


def _reason(box: Box, size: float, colour: RGB, alpha: int, mode: int, painted: list[_Painted], width: float, height: float) -> str:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    if not (0 <= x <= width and 0 <= y <= height):
        return "off_page"
    if mode == MODE_INVISIBLE:
        return "render_mode"
    if alpha < 26:
        return "transparent"
    if size < SMALLEST:
        return "tiny"
    ground = next((p.colour for p in reversed(painted) if p.box[0] <= x <= p.box[2] and p.box[1] <= y <= p.box[3]), WHITE)
    return "same_colour" if contrast(colour, ground) <= CONTRAST else ""


def _hidden(unseen: list[tuple[str, str]], number: int) -> Iterator[Hidden]:
    by_reason: dict[str, str] = {}
    for reason, char in unseen:
        by_reason[reason] = by_reason.get(reason, "") + char
    for reason, text in by_reason.items():
        shown = " ".join(text.split())
        if shown:
            yield Hidden(number, shown, reason, f"page {number}")
