"""Reads of files: where an original lies, and a download that proves its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext as _

from nekibu.errors import Unavailable
from nekibu.files.models import StoredFile


def original(stored: StoredFile) -> Path:
    """The path of an original."""
    return Path(settings.FILES_ROOT) / stored.storage_key


def verified(stored: StoredFile) -> Path:
    """The path of an original whose bytes still match their hash. Raises Unavailable when they do not."""
    path = original(stored)
    try:
        with path.open("rb") as file:
            intact = hashlib.file_digest(file, "sha256").hexdigest() == stored.sha256
    except OSError:
        intact = False
    if not intact:
        raise Unavailable(
            _("The stored file does not match its checksum. Tell your administrator; do not rely on it.")
        )
    return path


def download(stored: StoredFile, media_type: str, *, inline: bool = False) -> HttpResponse:
    """The original with its exact name. Raises Unavailable when the stored bytes no longer match their hash."""
    content = verified(stored).read_bytes()
    response = HttpResponse(content, content_type=media_type or "application/octet-stream")
    response["Content-Disposition"] = disposition(stored.name, inline=inline)
    response["X-Content-Type-Options"] = "nosniff"
    response["ETag"] = f'"{stored.sha256}"'
    return response


def disposition(name: str, *, inline: bool = False) -> str:
    """`Content-Disposition` that keeps every letter (RFC 6266, RFC 8187)."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\;%' else "_" for c in name)
    return f"{'inline' if inline else 'attachment'}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
