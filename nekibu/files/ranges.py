"""A file as a download that can be resumed: its hash as ETag, one byte range at a time (RFC 9110, 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from nekibu.files.models import StoredFile
from nekibu.files.selectors import disposition, verified

PART = 64 * 1024
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def resumable(request: HttpRequest, stored: StoredFile, media_type: str, name: str) -> HttpResponseBase:
    """200 with everything, 206 with the range that was asked for, 304 for whoever has it, 416 for a range outside of it.

    Raises Unavailable when the stored bytes no longer match their hash. A range of several parts is answered as a whole.
    """
    tag = f'"{stored.sha256}"'
    if tag in [part.strip() for part in request.headers.get("If-None-Match", "").split(",")]:
        return _dressed(HttpResponse(status=304), tag)
    path, size = verified(stored), stored.size
    asked = request.headers.get("Range", "")
    if request.headers.get("If-Range", tag) != tag:
        asked = ""
    span = span_of(asked, size)
    if span == (0, 0):
        response: HttpResponseBase = HttpResponse(status=416)
        response["Content-Range"] = f"bytes */{size}"
        return _dressed(response, tag)
    start, end = span or (0, size)
    response = StreamingHttpResponse(
        _bytes(path, start, end), status=206 if span else 200, content_type=media_type
    )
    if span:
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    response["Content-Length"] = str(end - start)
    response["Content-Disposition"] = disposition(name)
    response["X-Content-Type-Options"] = "nosniff"
    return _dressed(response, tag)


def span_of(asked: str, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last; None for everything, (0, 0) for what cannot be."""
    found = _RANGE.fullmatch(asked.strip().replace(" ", ""))
    if found is None:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    return (start, end) if start < end else (0, 0)


def _dressed(response: HttpResponseBase, tag: str) -> HttpResponseBase:
    response["ETag"] = tag
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = "private, no-cache"
    return response


def _bytes(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        left = end - start
        while left and (part := file.read(min(PART, left))):
            left -= len(part)
            yield part
