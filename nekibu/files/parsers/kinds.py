"""What a file is, by its first bytes and never by its name. Light enough to ask in a server."""

from __future__ import annotations

import zipfile
from pathlib import Path

from nekibu.files.parsers.base import DOCX, PDF, TEXT, Unreadable

_ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_FOREIGN = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"RIFF", b"{\\rtf", b"MZ", b"\x7fELF",
    b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"%!PS", b"SQLite format", b"\x00\x00\x01\x00", b"wOFF",
)  # fmt: skip
_WEB = (b"<!doctype html", b"<html", b"<?xml", b"<svg")


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
