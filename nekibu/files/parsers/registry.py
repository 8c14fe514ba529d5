"""Which parser reads a file, and the one place where a refusal becomes a value."""

from __future__ import annotations

from pathlib import Path

from nekibu.files.parsers import docx, pdf, text
from nekibu.files.parsers.base import DOCX, MAX_BYTES, MAX_PAGES, PDF, TEXT, Parsed, Unreadable, unreadable
from nekibu.files.parsers.kinds import media_type_of


def parse(path: Path, name: str, *, pages: int = MAX_PAGES) -> Parsed:
    """Read a file by its content. Never raises for a bad file: that is a reading with quality `unreadable` and a reason.

    `name` plays no part in the choice. Call it in the limited child (`sandbox.parse_file`), not in a server.
    """
    del name
    size = path.stat().st_size
    if size == 0:
        return unreadable("empty")
    if size > MAX_BYTES:
        return unreadable("too_large")
    media_type = ""
    try:
        media_type = media_type_of(path)
        if media_type == PDF:
            return pdf.parse_pdf(path, pages=pages)
        if media_type == DOCX:
            return docx.parse_docx(path)
        return text.parse_text(path)
    except Unreadable as refused:
        known = {PDF: (pdf.ID, pdf.VERSION), DOCX: (docx.ID, docx.VERSION), TEXT: (text.ID, text.VERSION)}
        if refused.reason == "unsupported_type":
            media_type = ""
        return unreadable(refused.reason, media_type, *known.get(media_type, ("none", "1")))
