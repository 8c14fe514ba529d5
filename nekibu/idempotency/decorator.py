"""`Idempotency-Key`: the same key with the same request gives the same answer, and the act is done once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from nekibu.errors import Conflict, InvalidInput
from nekibu.idempotency.models import IdempotencyKey


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used before with another request."""

    code = "idempotency_mismatch"


def idempotent(method: Callable[..., Response]) -> Callable[..., Response]:
    """For a view's `post`: requires the header, replays a finished answer, refuses a key with another body.

    Key and act stand in one transaction: a failed act leaves no key, and a second request with the same key waits
    for the first one's commit.
    """

    @wraps(method)
    def post(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not 1 <= len(key) <= 255:
            raise InvalidInput(
                _(
                    "Send an Idempotency-Key header of 1 to 255 characters, so that a repeated request acts once."
                ),
                code="idempotency_key_required",
            )
        endpoint = f"{request.method} {request.path}"
        wanted = _digest(request)
        try:
            with transaction.atomic():
                row = IdempotencyKey.objects.create(endpoint=endpoint, key=key, request_hash=wanted)
        except IntegrityError:
            row = IdempotencyKey.objects.get(endpoint=endpoint, key=key)
            if row.request_hash != wanted:
                raise IdempotencyMismatch from None
            replay = Response(row.body, status=row.status or 202)
            replay["Idempotent-Replay"] = "true"
            if row.location:
                replay["Location"] = row.location
            return replay
        response = method(view, request, *args, **kwargs)
        IdempotencyKey.objects.filter(pk=row.pk).update(
            status=response.status_code, body=_plain(response.data), location=response.get("Location", "")
        )
        return response

    post.idempotent = True  # type: ignore[attr-defined]
    return post


def _digest(request: Request) -> str:
    seen = hashlib.sha256()
    seen.update(request.get_full_path().encode())
    if request.FILES:
        for name in sorted(request.FILES):
            for file in request.FILES.getlist(name):
                seen.update(f"{name}\0{file.name}\0{file.size}\0".encode())
                for chunk in file.chunks():
                    seen.update(chunk)
                file.seek(0)
        for name in sorted(request.POST):
            seen.update(f"{name}={request.POST.getlist(name)}".encode())
    else:
        seen.update(
            repr(sorted(request.data.items()) if hasattr(request.data, "items") else request.data).encode()
        )
    return seen.hexdigest()


def _plain(data: Any) -> Any:
    import json

    from rest_framework.utils.encoders import JSONEncoder

    return json.loads(json.dumps(data, cls=JSONEncoder))
