"""Acts on files: keep an original byte for byte, and read it in a limited child process."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from nekibu.audit.record import record
from nekibu.audit.tags import AuditTag
from nekibu.errors import InvalidInput, TooLarge
from nekibu.files.models import ParsedText, StoredFile
from nekibu.files.parsers.sandbox import parse_file
from nekibu.files.selectors import original
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant


class FileTag(AuditTag):
    """What is written about files."""

    KEPT = "files:original:kept"
    PARSED = "files:text:parsed"


def keep(*, actor: Actor, name: str, chunks: Iterable[bytes]) -> StoredFile:
    """Store an original under its hash, byte-identical. Raises TooLarge above the limit and InvalidInput for no bytes."""
    folder = Path(settings.FILES_ROOT) / str(current_tenant())
    folder.mkdir(parents=True, exist_ok=True)
    seen, size = hashlib.sha256(), 0
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > settings.FILE_MAX_BYTES:
                    raise TooLarge(
                        _("%(name)s is larger than %(limit)d MB. Save it smaller, for example with fewer pictures, and try again.")
                        % {"name": name, "limit": settings.FILE_MAX_BYTES // (1024 * 1024)}
                    )
                seen.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if size == 0:
            raise InvalidInput(_("%(name)s is empty. Choose the file again.") % {"name": name}, code="empty_file")
        digest = seen.hexdigest()
        target = folder / digest[:2] / digest
        target.parent.mkdir(exist_ok=True)
        Path(draft).replace(target)
    finally:
        Path(draft).unlink(missing_ok=True)
    stored = StoredFile.objects.create(name=name[:255], size=size, sha256=digest, storage_key=f"{folder.name}/{digest[:2]}/{digest}")
    record(actor, FileTag.KEPT, stored, sha256=digest, size=size)
    return stored


def read(stored: StoredFile) -> dict[str, Any]:
    """Run the parser in its child process and return the fields of a `ParsedText`. Needs no transaction."""
    parsed = asdict(parse_file(original(stored), stored.name))
    parsed.pop("chars", None)
    return parsed


def keep_text(*, actor: Actor, stored: StoredFile, fields: dict[str, Any]) -> ParsedText:
    """Store what a parser read; the same parser on the same file gives the row that is there."""
    held = ParsedText.objects.filter(file=stored, parser_id=fields["parser_id"], parser_version=fields["parser_version"]).first()
    if held is not None:
        return held
    text = ParsedText.objects.create(file=stored, **fields)
    record(actor, FileTag.PARSED, text, quality=text.quality, reason=text.reason, parser=f"{text.parser_id} {text.parser_version}")
    return text
