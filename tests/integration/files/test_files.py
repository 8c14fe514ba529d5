"""Originals stay what they were, readings are stored once, and neither crosses a tenant or changes."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction

from nekibu.errors import InvalidInput, TooLarge, Unavailable
from nekibu.files import services
from nekibu.files.models import ParsedText, StoredFile
from nekibu.files.selectors import disposition, download, original
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from samples import hostile

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = [
    "özgeçmiş_Çağrı.docx",
    "резюме.docx",
    "履歴書 (1).pdf",
    "CV; “son” 2026.pdf",
    "Cag\u0306rı.pdf",
    'a"b\\c%41.pdf',
]


@pytest.fixture
def files_root(tmp_path: Path, settings: object) -> Path:
    settings.FILES_ROOT = tmp_path / "files"
    return tmp_path / "files"


def keep(tenant: object, name: str, *chunks: bytes) -> StoredFile:
    with tenant_scope(tenant.id):
        return services.keep(actor=Actor.system(tenant.id, "test"), name=name, chunks=chunks)


@pytest.mark.parametrize("name", NAMES)
def test_name_and_bytes_come_back_as_they_went_in(tenant: object, files_root: Path, name: str) -> None:
    body = hostile.plain_pdf()
    stored = keep(tenant, name, body[:100], body[100:])
    with tenant_scope(tenant.id):
        again = StoredFile.objects.get(pk=stored.pk)
    assert (again.name, again.size, again.media_type) == (name, len(body), "application/pdf")
    assert again.sha256 == hashlib.sha256(body).hexdigest()
    assert original(again) == files_root / str(tenant.id) / again.sha256[:2] / again.sha256
    response = download(again, again.media_type)
    assert response.content == body and response["X-Content-Type-Options"] == "nosniff"
    encoded = re.search(r"filename\*=UTF-8''(\S+)$", response["Content-Disposition"])
    assert encoded and unquote(encoded.group(1)) == name


@pytest.mark.parametrize("name", NAMES)
def test_no_name_breaks_the_header(name: str) -> None:
    header = disposition(name)
    assert header.isascii() and header.isprintable()
    assert re.fullmatch(r"attachment; filename=\"[^\"\\;]*\"; filename\*=UTF-8''[\w.~%-]+", header, re.ASCII)


@pytest.mark.parametrize("name", ["", "  ", "a\0b.pdf", "ü" * 256])
def test_a_name_that_cannot_be_kept_is_refused(tenant: object, files_root: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        keep(tenant, name, b"x")


def test_too_many_bytes_stop_the_stream_and_leave_nothing(
    tenant: object, files_root: Path, settings: object
) -> None:
    settings.FILE_MAX_BYTES = 1000
    sent = []

    def stream():
        for _ in range(100):
            sent.append(1)
            yield b"0" * 300

    with pytest.raises(TooLarge), tenant_scope(tenant.id):
        services.keep(actor=Actor.system(tenant.id, "test"), name="b.pdf", chunks=stream())
    assert len(sent) == 4
    with pytest.raises(InvalidInput):
        keep(tenant, "leer.pdf", b"")
    assert [path for path in files_root.rglob("*") if path.is_file()] == []


def test_the_same_bytes_lie_once_under_two_names(tenant: object, files_root: Path) -> None:
    one, two = keep(tenant, "a.txt", b"bir"), keep(tenant, "b.txt", b"bir")
    assert one.pk != two.pk and original(one) == original(two)


def test_a_changed_original_is_neither_given_nor_read(tenant: object, files_root: Path) -> None:
    stored = keep(tenant, "a.txt", "Satınalma uzmanı".encode())
    original(stored).write_bytes(b"changed")
    for act in (lambda: download(stored, "text/plain"), lambda: services.read(stored)):
        with pytest.raises(Unavailable):
            act()
    original(stored).unlink()
    with pytest.raises(Unavailable):
        services.read(stored)


def test_a_reading_is_stored_once_and_never_changes(tenant: object, files_root: Path) -> None:
    actor = Actor.system(tenant.id, "test")
    stored = keep(tenant, "kenar dışı.pdf", hostile.off_page_pdf())
    first = services.parse(actor=actor, stored_file=stored)
    second = services.parse(actor=actor, stored_file=stored)
    assert first.pk == second.pk
    with tenant_scope(tenant.id):
        row = ParsedText.objects.get()
        assert (row.quality, row.media_type, row.usable) == ("hidden_text", "application/pdf", True)
        assert row.hidden[0]["text"] == hostile.NOTE and "injection_suspected" in row.findings
        assert next(row.text[piece["start"] : piece["end"]] for piece in row.pieces) in hostile.SENTENCE
        for change in (
            lambda: ParsedText.objects.update(text="x"),
            lambda: StoredFile.objects.all().delete(),
        ):
            with pytest.raises(DatabaseError), transaction.atomic():
                change()


def test_an_unreadable_file_is_stored_with_its_reason(tenant: object, files_root: Path) -> None:
    stored = keep(tenant, "şifreli.pdf", hostile.encrypted_pdf())
    text = services.parse(actor=Actor.system(tenant.id, "test"), stored_file=stored)
    assert (text.quality, text.reason, text.text, text.usable) == ("unreadable", "encrypted", "", False)


def test_another_tenant_sees_no_file_and_shares_no_folder(
    tenant: object, other_tenant: object, files_root: Path
) -> None:
    mine, theirs = keep(tenant, "a.txt", b"bir"), keep(other_tenant, "a.txt", b"bir")
    assert original(mine) != original(theirs)
    with tenant_scope(other_tenant.id):
        assert [row.pk for row in StoredFile.objects.all()] == [theirs.pk]
    assert files_root == settings.FILES_ROOT
