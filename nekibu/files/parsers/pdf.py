"""PDF: letters with their places, what a reader sees of them, in the order a person reads, page by page."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pypdfium2.raw as raw

from nekibu.files.parsers.base import MAX_CHARACTERS, PDF, Hidden, Page, Parsed, Unreadable
from nekibu.files.parsers.columns import read_in_order
from nekibu.files.parsers.drawings import read_drawings
from nekibu.files.parsers.glyphs import frame_of, read_glyphs
from nekibu.files.parsers.hidden import Raster, hidden_segments, mark_hidden, picture_share
from nekibu.files.parsers.pages import TextOfPages
from nekibu.files.parsers.quality import letters_lost, overall, text_findings
from nekibu.files.parsers.words import words_of

ID, VERSION = "pdf", "1"

_SCAN_SHARE = 0.5
_SCAN_TEXT = 50
_PASSWORD = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_FILLED_IN = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT)


def parse_pdf(path: Path, *, pages: int) -> Parsed:
    """Read a PDF. Raises Unreadable with `encrypted`, `corrupt`, `too_many_pages`, `too_large` or `empty`."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as broken:
        raise Unreadable("encrypted" if broken.err_code in _PASSWORD else "corrupt") from broken
    try:
        count = len(document)
        if count > pages:
            raise Unreadable("too_many_pages")
        reading = _Reading()
        for index in range(count):
            reading.page(document, index)
        return reading.result()
    finally:
        document.close()


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.text = TextOfPages()
        self.pages: list[Page] = []
        self.hidden: list[Hidden] = []
        self.findings: list[str] = []

    def page(self, document: pypdfium2.PdfDocument, index: int) -> None:
        """Read one page. A page that pdfium cannot open is marked and does not fail the file."""
        number = index + 1
        self.text.begin(number)
        try:
            page = _filled_in(document, index)
        except pypdfium2.PdfiumError:
            self._close(number, 0, 0, "low", "unread", "page_unread")
            return
        try:
            self._read(page, number)
        except (
            ArithmeticError,
            LookupError,
            ValueError,
        ):  # a page of nonsense numbers must not fail the others
            self._close(number, 0, 0, "low", "unread", "page_unread")
        finally:
            page.close()

    def _read(self, page: pypdfium2.PdfPage, number: int) -> None:
        frame = frame_of(page)
        drawn = read_drawings(page, frame.matrix)
        text_page = page.get_textpage()
        try:
            glyphs = read_glyphs(text_page, frame, drawn)
            layer = mark_hidden(glyphs, drawn, frame, Raster(page, frame))
        finally:
            text_page.close()
        self.hidden += hidden_segments(glyphs, number)
        visible = [glyph for glyph in glyphs if not glyph.reason]
        torn = False
        for angle in sorted({glyph.angle for glyph in visible if not glyph.char.isspace()}):
            turned = [glyph.turned() for glyph in visible if glyph.angle == angle]
            words, broken = words_of(turned)
            torn = torn or broken
            level = angle == 0
            self.text.add(read_in_order(words, drawn.across if level else (), drawn.down if level else ()))
            if len(self.text) > MAX_CHARACTERS:
                raise Unreadable("too_large")
        written = self.text.written()
        scanned = not layer and picture_share(drawn, frame) >= _SCAN_SHARE and written < _SCAN_TEXT
        if scanned or (written == 0 and (drawn.shapes or drawn.objects > len(drawn.inked))):
            self._close(number, frame.width, frame.height, "needs_ocr", "scan", "page_needs_ocr")
        elif written == 0:
            self._close(number, frame.width, frame.height, "ok", "blank")
        elif layer:
            self._close(number, frame.width, frame.height, "low", "ocr_layer", "ocr_layer")
        elif torn or letters_lost(self.text.of_page()):
            self._close(number, frame.width, frame.height, "low", "text", "glyphs_lost")
        else:
            self._close(number, frame.width, frame.height, "ok", "text")

    def _close(
        self, number: int, width: float, height: float, quality: str, kind: str, finding: str = ""
    ) -> None:
        start, end = self.text.finish()
        self.pages.append(Page(number, start, end, round(width, 2), round(height, 2), quality, kind))
        if finding and finding not in self.findings:
            self.findings.append(finding)

    def result(self) -> Parsed:
        """The whole reading. Raises Unreadable when no page could be opened."""
        if not self.pages or all(page.kind == "unread" for page in self.pages):
            raise Unreadable("corrupt")
        text, hidden, pages = self.text.text, tuple(self.hidden), tuple(self.pages)
        findings = (*self.findings, *text_findings(text, hidden))
        if all(page.kind == "blank" for page in pages):
            return Parsed(PDF, ID, VERSION, "", pages, (), hidden, findings, "unreadable", "empty", 0)
        quality = overall(pages, hidden)
        reason = (
            self.findings[0] if quality == "low" and self.findings else "" if quality == "ok" else quality
        )
        return Parsed(
            PDF, ID, VERSION, text, pages, self.text.pieces, hidden, findings, quality, reason, len(text)
        )


def _filled_in(document: pypdfium2.PdfDocument, index: int) -> pypdfium2.PdfPage:
    """The page with what was typed into its form fields made part of it."""
    page = document[index]
    for place in range(max(raw.FPDFPage_GetAnnotCount(page.raw), 0)):
        note = raw.FPDFPage_GetAnnot(page.raw, place)
        kind = raw.FPDFAnnot_GetSubtype(note) if note else -1
        if note:
            raw.FPDFPage_CloseAnnot(note)
        if kind in _FILLED_IN:
            raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY)
            page.close()
            return document[index]
    return page
