"""Which parser reads a file: decided by its first bytes, never by its name."""

from __future__ import annotations

import zipfile
from pathlib import Path

from nekibu.files.parsers import docx, pdf, text
from nekibu.files.parsers.base import DOCX, MAX_BYTES, MAX_PAGES, PDF, TEXT, Parsed, Unreadable, unreadable

_ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_FOREIGN = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"RIFF", b"{\\rtf", b"MZ", b"\x7fELF",
    b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"%!PS", b"SQLite format", b"\x00\x00\x01\x00", b"wOFF",
)  # fmt: skip
_WEB = (b"<!doctype html", b"<html", b"<?xml", b"<svg")


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


def media_type_of(path: Path) -> str:
    """PDF, DOCX or text by content. Raises Unreadable with `unsupported_type` or `encrypted`."""
    with path.open("rb") as file:
        head = file.read(2048)
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(_ARCHIVE):
        if zipfile.is_zipfile(path):
            return DOCX
        raise Unreadable("corrupt")
    if head.startswith(_OLE):
        raise Unreadable("encrypted" if _ENCRYPTED_OFFICE in path.read_bytes() else "unsupported_type")
    if head.startswith(_FOREIGN) or head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB):
        raise Unreadable("unsupported_type")
    return TEXT
