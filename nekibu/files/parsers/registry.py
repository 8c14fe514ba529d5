"""From a path to what can be said of it: by content, never by name; nothing is guessed and nothing raises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from nekibu.files.parsers import docx, pdf, text
from nekibu.files.parsers.base import Box, CannotRead, Hidden, Line, Page, PageLines, Parsed, Piece, QualityName
from nekibu.files.parsers.hidden import without_invisible
from nekibu.files.parsers.injection import suspicious

VERSION = "1"
MAX_BYTES = 10 * 1024 * 1024
PDF, DOCX, TXT = "application/pdf", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "text/plain"
_LOST = re.compile(r"\ufffd|\(cid:\d+\)|[\ue000-\uf8ff]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+(?=[\"“(A-ZÇĞİÖŞÜ0-9•])")
_ABBREVIATION = re.compile(r"(?:\b(?:vb|vs|Dr|Prof|Doç|Av|Sn|No|Tel|Ltd|Şti|San|Tic|Inc|Co|Jr|Sr|St|Mr|Mrs|Ms|e\.g|i\.e|A\.Ş)|\b\w|\d)\.$")


def parse(path: Path, name: str, *, pages: int = 40) -> Parsed:
    """Read a file. A file that cannot be read is an answer (`unreadable` with its reason), not an exception."""
    media_type, kind = "", "none"
    try:
        size = path.stat().st_size
        if size == 0:
            raise CannotRead("empty")
        if size > MAX_BYTES:
            raise CannotRead("too_large")
        with path.open("rb") as file:
            head = file.read(8192)
        if b"%PDF-" in head[:1024]:
            media_type, kind = PDF, "pdf"
            found, hidden = pdf.read(path, pages)
        elif head.startswith(b"PK\x03\x04"):
            media_type, kind = DOCX, "docx"
            with docx.check_archive(path) as archive:
                if "word/document.xml" not in archive.namelist():
                    raise CannotRead("unsupported_type")
            lines, hidden = docx.read(path)
            found = [PageLines(1, 0, 0, tuple(lines))]
        elif head.startswith(b"\xd0\xcf\x11\xe0"):
            raise CannotRead("encrypted" if b"E\0n\0c\0r\0y\0p\0t" in path.read_bytes() else "unsupported_type")
        elif text.looks_like_text(head):
            media_type, kind = TXT, "text"
            found, hidden = [PageLines(1, 0, 0, tuple(text.read(path)))], []
        else:
            raise CannotRead("unsupported_type")
    except CannotRead as refused:
        return Parsed(media_type, f"nekibu.{kind}", VERSION, "", (), (), (), (), "unreadable", refused.reason)
    return _assemble(media_type, kind, found, hidden)


def _assemble(media_type: str, kind: str, found: list[PageLines], hidden: list[Hidden]) -> Parsed:
    body, pages, pieces = "", [], []
    findings: list[str] = []
    for page in found:
        start = len(body)
        for line in page.lines:
            said, shapeless = without_invisible(line.text)
            if shapeless:
                hidden.append(Hidden(page.number if kind == "pdf" else None, shapeless, "invisible_characters", "line"))
            said = said.strip()
            if not said:
                continue
            for part_start, part_end in _parts(said):
                pieces.append(
                    Piece(
                        len(pieces) + 1, page.number if kind == "pdf" else None, len(body) + part_start, len(body) + part_end,
                        line.kind, _rounded(line.bbox),
                    )  # fmt: skip
                )
            body += said + "\n"
        pages.append(_page(page, kind, body, start, findings))
    if suspicious(body):
        findings.append("injection_suspected")
    quality, reason = _quality(body, pages, hidden, findings)
    return Parsed(
        media_type, f"nekibu.{kind}", VERSION, body, tuple(pages), tuple(pieces), tuple(hidden), tuple(dict.fromkeys(findings)), quality, reason, len(body)
    )


def _page(page: PageLines, kind: str, body: str, start: int, findings: list[str]) -> Page:
    said = body[start:]
    visible = len("".join(said.split()))
    quality: QualityName = "ok"
    if kind == "pdf" and visible < 50 and page.image_share >= 0.5:
        quality = "needs_ocr"
        findings.append("page_needs_ocr")
    elif page.ocr_layer:
        quality = "low"
        findings.append("ocr_layer")
    elif sum(len(line.text) for line in page.lines if line.kind == "box") > 0.5 * max(visible, 1):
        quality = "low"
        findings.append("text_in_boxes")
    elif _LOST.search(said) or _broken_letters(said):
        quality = "low"
        findings.append("glyphs_lost")
    return Page(page.number, start, len(body), page.width, page.height, quality, "scan" if quality == "needs_ocr" else "text")


def _quality(body: str, pages: Iterable[Page], hidden: list[Hidden], findings: list[str]) -> tuple[QualityName, str]:
    grades = [page.quality for page in pages]
    if not body.strip():
        return ("needs_ocr", "no_text_layer") if "needs_ocr" in grades else ("unreadable", "empty")
    if grades and all(grade == "needs_ocr" for grade in grades):
        return "needs_ocr", "no_text_layer"
    if "needs_ocr" in grades:
        return "low", "page_needs_ocr"
    if "low" in grades:
        return "low", next((f for f in findings if f in {"glyphs_lost", "text_in_boxes", "ocr_layer"}), "")
    return ("hidden_text", "") if hidden else ("ok", "")


def _broken_letters(text: str) -> bool:
    words = text.split()
    single = sum(1 for word in words if len(word) == 1 and word.isalpha())
    return len(words) > 20 and single > 0.3 * len(words)


def _parts(text: str) -> list[tuple[int, int]]:
    """Sentences of a long line; short lines stay whole."""
    if len(text) < 160:
        return [(0, len(text))]
    cuts, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        before = text[start : match.start()]
        if _ABBREVIATION.search(before) or len(before) < 25:
            continue
        cuts.append((start, match.start()))
        start = match.end()
    cuts.append((start, len(text)))
    return [(a, b) for a, b in cuts if text[a:b].strip()]


def _rounded(box: Box | None) -> Box | None:
    return (round(box[0], 1), round(box[1], 1), round(box[2], 1), round(box[3], 1)) if box else None
