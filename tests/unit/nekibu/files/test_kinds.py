"""What a file is, its bytes say: other kinds, locked files and lies are named, and nothing locked for printing only is refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from nekibu.files.parsers.registry import parse
from samples import hostile

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def office(**parts: str) -> bytes:
    """An archive with these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


def locked_parts() -> bytes:
    """A DOCX whose every part is marked as encrypted, in both directories of the archive."""
    body = bytearray(hostile.plain_docx())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = body.find(signature)
        while at >= 0:
            body[at + flags] |= 1
            at = body.find(signature, at + 4)
    return bytes(body)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("locked.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("parts.docx", locked_parts(), "encrypted"),
        ("old.doc", OLE + "WordDocument".encode("utf-16-le"), "unsupported_type"),
        ("sheet.docx", office(xl__workbook_xml="<a/>"), "unsupported_type"),
        ("open.docx", office(mimetype="application/vnd.oasis.opendocument.text"), "unsupported_type"),
        ("archive.docx", office(cv_txt="merhaba"), "unsupported_type"),
        ("rich.docx", b"{\\rtf1 merhaba}", "unsupported_type"),
        ("page.pdf", b"<!DOCTYPE html><p>merhaba", "unsupported_type"),
        ("photo.pdf", b"\xff\xd8\xff\xe0" + b"\0" * 60, "unsupported_type"),
        ("phone.txt", b"\0\0\0\x18ftypheic" + b"\0" * 60, "unsupported_type"),
        ("print.pdf", b"%!PS-Adobe-3.0", "unsupported_type"),
        ("head.pdf", b"%PDF-1.7\n", "corrupt"),
        ("cut.docx", hostile.plain_docx()[:-300], "corrupt"),
        ("endless.txt", b"x" * 2_100_000, "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    parsed = parse(path, name)
    assert (parsed.quality, parsed.reason, parsed.text, parsed.pieces) == ("unreadable", reason, "", ())


@pytest.mark.parametrize("strength", [40, 128])
def test_a_pdf_that_opens_without_a_password_is_read(tmp_path: Path, strength: int) -> None:
    path = tmp_path / "print.pdf"
    path.write_bytes(
        hostile.plain_pdf(encrypt=StandardEncryption("", "owner", canPrint=0, canCopy=0, strength=strength))
    )
    parsed = parse(path, path.name)
    assert (parsed.quality, parsed.text.strip()) == ("ok", hostile.SENTENCE)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cv.pdf", hostile.plain_docx()),
        ("cv", hostile.plain_pdf()),
        ("cv.docx", b"junk before\n" + hostile.plain_pdf()),
        ("cv.txt", hostile.plain_docx() + b"junk" * 50),
    ],
    ids=["docx-as-pdf", "no-ending", "junk-before-pdf", "junk-after-docx"],
)
def test_a_wrong_ending_and_junk_around_the_content_do_not_matter(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert parse(path, name).text.strip() == hostile.SENTENCE
