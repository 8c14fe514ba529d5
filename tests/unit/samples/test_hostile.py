"""Each hostile file is what it says: small on disk, broken in exactly its own way."""

from __future__ import annotations

import io
import zipfile

import pypdfium2
import pytest
from docx import Document

from samples import hostile


def test_all_but_the_oversized_file_are_small() -> None:
    for case in hostile.HOSTILE:
        size = len(case.build())
        assert (size > hostile.MAX_BYTES) is (case.reason == "too_large"), case.name
        assert case.reason == "too_large" or size < 400_000, (case.name, size)


def test_the_encrypted_file_opens_with_its_password_only() -> None:
    body = hostile.encrypted_pdf()
    with pytest.raises(pypdfium2.PdfiumError):
        pypdfium2.PdfDocument(body)
    assert len(pypdfium2.PdfDocument(body, password="sample-user")) == 1


def test_the_corrupt_files_do_not_open() -> None:
    with pytest.raises(pypdfium2.PdfiumError):
        pypdfium2.PdfDocument(hostile.corrupt_pdf())
    cut = next(case for case in hostile.HOSTILE if case.name == "kesik.docx").build()
    with pytest.raises(zipfile.BadZipFile):
        Document(io.BytesIO(cut))


def test_the_bomb_unpacks_to_more_than_a_hundred_times_its_size() -> None:
    body = hostile.bomb_docx()
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert sum(entry.file_size for entry in archive.infolist()) > 100 * len(body)


def test_pages_and_disguises() -> None:
    assert len(pypdfium2.PdfDocument(hostile.long_pdf())) == hostile.MAX_PAGES + 1
    assert hostile.png().startswith(b"\x89PNG")
    with zipfile.ZipFile(io.BytesIO(hostile.macro_docm())) as archive:
        assert "word/vbaProject.bin" in archive.namelist()
    text = pypdfium2.PdfDocument(hostile.off_page_pdf())[0].get_textpage().get_text_range()
    assert hostile.NOTE in text
    assert hostile.SENTENCE in text
