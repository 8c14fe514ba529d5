"""One shape for every error of the API: code, message in the reader's language, fields, and whether to try again."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, JsonResponse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response

from nekibu.errors import InvalidInput, NekibuError, NotFound, NotPermitted, NotSignedIn, OverBudget

log = logging.getLogger(__name__)


def handle(broken: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's exception handler. What it does not know becomes a 500 with no inner detail."""
    error = _as_nekibu(broken)
    if error is None:
        return None
    if transaction.get_connection().in_atomic_block:
        transaction.set_rollback(True)
    response = Response(body(error), status=error.status)
    for name, value in headers(error).items():
        response[name] = value
    return response


def error_response(error: NekibuError) -> JsonResponse:
    """The same shape outside a view."""
    return JsonResponse(body(error), status=error.status, headers=headers(error))


def body(error: NekibuError) -> dict[str, Any]:
    """`{"code", "message", "errors": [{"field", "code", "message"}], "retryable", …}`."""
    data = {k: v for k, v in error.data.items() if k not in {"errors", "retry_after"}}
    return {
        "code": error.error_code,
        "message": _(error.message),
        "errors": error.data.get("errors", []),
        "retryable": error.retryable,
        **{
            k: v if isinstance(v, (int, float, bool, list, dict, type(None))) else str(v)
            for k, v in data.items()
        },
    }


def headers(error: NekibuError) -> dict[str, str]:
    """`Retry-After` where trying again helps, `WWW-Authenticate` where signing in helps."""
    found: dict[str, str] = {}
    if error.retryable:
        found["Retry-After"] = str(int(error.data.get("retry_after", 5)))
    if error.status == 401:
        found["WWW-Authenticate"] = "Bearer"
    return found


def _as_nekibu(broken: Exception) -> NekibuError | None:
    if isinstance(broken, NekibuError):
        return broken
    if isinstance(broken, exceptions.ValidationError):
        return InvalidInput(errors=_fields(broken.detail))
    if isinstance(broken, (Http404, exceptions.NotFound)):
        return NotFound()
    if isinstance(broken, (exceptions.NotAuthenticated, exceptions.AuthenticationFailed)):
        return NotSignedIn()
    if isinstance(broken, (PermissionDenied, exceptions.PermissionDenied)):
        return NotPermitted()
    if isinstance(broken, exceptions.Throttled):
        return OverBudget(retry_after=getattr(broken, "wait", None) or 1)
    if isinstance(broken, exceptions.APIException):
        known = InvalidInput(str(broken.detail), code=str(getattr(broken, "default_code", "invalid")))
        known.status = broken.status_code  # type: ignore[misc]
        return known
    return None


def _fields(detail: Any, path: str = "") -> list[dict[str, str]]:
    if isinstance(detail, dict):
        return [
            row
            for key, value in detail.items()
            for row in _fields(value, f"{path}.{key}" if path else str(key))
        ]
    if isinstance(detail, list):
        rows: list[dict[str, str]] = []
        for index, value in enumerate(detail):
            rows += _fields(value, f"{path}[{index}]" if isinstance(value, (dict, list)) else path)
        return rows
    return [{"field": path, "code": str(getattr(detail, "code", "invalid")), "message": str(detail)}]
