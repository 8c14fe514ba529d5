"""Acts on files: keep an original byte for byte, and read it in a limited child process."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from nekibu.audit.record import record
from nekibu.audit.tags import AuditTag
from nekibu.errors import InvalidInput, TooLarge
from nekibu.files.models import ParsedText, StoredFile
from nekibu.files.parsers.base import Unreadable
from nekibu.files.parsers.kinds import media_type_of
from nekibu.files.parsers.sandbox import parse_file
from nekibu.files.selectors import verified
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant, tenant_scope

LONGEST_NAME = 255


class FileTag(AuditTag):
    """What is written about files."""

    KEPT = "files:original:kept"
    DISCARDED = "files:original:discarded"
    PARSED = "files:text:parsed"


def keep(*, actor: Actor, name: str, chunks: Iterable[bytes], most: int | None = None) -> StoredFile:
    """Store an original under its hash, byte-identical, with its name exactly as given; at most `most` bytes.

    Raises TooLarge as soon as the stream passes the limit, InvalidInput for no bytes or a name that cannot be kept.
    """
    if not name.strip() or "\0" in name or len(name) > LONGEST_NAME:
        raise InvalidInput(
            _("The name of the file must have between 1 and %(most)d characters.") % {"most": LONGEST_NAME},
            code="file_name",
        )
    limit = settings.FILE_MAX_BYTES if most is None else most
    folder = Path(settings.FILES_ROOT) / str(current_tenant())
    folder.mkdir(parents=True, exist_ok=True)
    seen, size = hashlib.sha256(), 0
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise TooLarge(
                        _(
                            "%(name)s is larger than %(limit)d MB. Save it smaller, for example with fewer pictures, and try again."
                        )
                        % {"name": name, "limit": limit // (1024 * 1024)}
                    )
                seen.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if size == 0:
            raise InvalidInput(
                _("%(name)s is empty. Choose the file again.") % {"name": name}, code="empty_file"
            )
        digest = seen.hexdigest()
        target = folder / digest[:2] / digest
        target.parent.mkdir(exist_ok=True)
        _lock_bytes(f"{folder.name}/{digest[:2]}/{digest}")
        Path(draft).replace(target)
    finally:
        Path(draft).unlink(missing_ok=True)
    stored: StoredFile = StoredFile.objects.create(
        name=name,
        size=size,
        sha256=digest,
        media_type=_media_type(target),
        storage_key=f"{folder.name}/{digest[:2]}/{digest}",
    )
    record(actor, FileTag.KEPT, stored, sha256=digest, size=size)
    return stored


def discard(*, actor: Actor, stored: StoredFile, gone: Collection[UUID] = ()) -> None:
    """Let the bytes of an original go that nothing needs any more; its row stays and says that there was one.

    `gone` are originals that were discarded before. Bytes that any other original has too stay.
    """
    record(actor, FileTag.DISCARDED, stored, sha256=stored.sha256, size=stored.size)
    tenant_id, key, without = stored.tenant_id, stored.storage_key, {stored.id, *gone}
    transaction.on_commit(lambda: _drop_bytes(tenant_id, key, without))


def _drop_bytes(tenant_id: UUID, key: str, without: set[UUID]) -> None:
    with tenant_scope(tenant_id):
        _lock_bytes(key)  # whoever is just keeping the same bytes again has committed by now
        if not StoredFile.objects.filter(storage_key=key).exclude(pk__in=without).exists():
            (Path(settings.FILES_ROOT) / key).unlink(missing_ok=True)


def _lock_bytes(key: str) -> None:
    """Until the end of the transaction, nobody else keeps or drops the bytes of this key."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])


def parse(*, actor: Actor, stored_file: StoredFile) -> ParsedText:
    """Read an original and store what was read. Call it outside a scope: the child may take a minute."""
    fields = read(stored_file)
    with tenant_scope(actor.tenant_id):
        return keep_text(actor=actor, stored=stored_file, fields=fields)


def read(stored: StoredFile) -> dict[str, Any]:
    """Run the parser in its child process and return the fields of a `ParsedText`. Needs no transaction.

    An original that is gone or no longer has its hash is not read: Unavailable.
    """
    parsed = asdict(parse_file(verified(stored), stored.name))
    parsed.pop("chars")
    return parsed


def keep_text(*, actor: Actor, stored: StoredFile, fields: dict[str, Any]) -> ParsedText:
    """Store what a parser read; the same parser on the same file gives the row that is there."""
    version = {"file": stored, "parser_id": fields["parser_id"], "parser_version": fields["parser_version"]}
    held: ParsedText | None = ParsedText.objects.filter(**version).first()
    if held is not None:
        return held
    text = ParsedText(file=stored, **fields)
    try:
        with transaction.atomic():
            text.save(force_insert=True)
    except IntegrityError:  # another worker was quicker with the same reading
        return cast(ParsedText, ParsedText.objects.get(**version))
    reader = f"{text.parser_id} {text.parser_version}"
    record(actor, FileTag.PARSED, text, quality=text.quality, reason=text.reason, parser=reader)
    return text


def _media_type(path: Path) -> str:
    try:
        return media_type_of(path)
    except Unreadable:
        return ""
