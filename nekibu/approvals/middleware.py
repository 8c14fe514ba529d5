"""The door's memory: whatever was refused at an address of approvals, there is a row of it before the answer leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from nekibu.approvals.refusals import Refusal, collected, write
from nekibu.errors import NekibuError

SAFE = {"GET", "HEAD", "OPTIONS"}


class RefusalMiddleware:
    """Stands around the request's transaction, so that a refusal survives its roll-back.

    Services note their refusals themselves. What never reached a service (a wrong method, a missing right, a broken form)
    is noted here: writes to any address of this app, and every method at an address that only takes POST.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with collected() as found:
            response = self.get_response(request)
        actor = getattr(request, "actor", None)
        if actor is not None:
            refused = response.status_code >= 400 or hasattr(request, "refused_code")
            if refused and not found and _is_act(request):
                found.append(
                    Refusal(
                        actor,
                        f"{request.method} {request.resolver_match.url_name}",  # type: ignore[union-attr]
                        _code(request, response),
                        response.status_code,
                        request.resolver_match.kwargs.get("approval_id"),  # type: ignore[union-attr]
                    )
                )
            write(found)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Remember which promise broke; somebody else makes a page of it."""
        if isinstance(exception, NekibuError):
            request.refused_code = exception.error_code  # type: ignore[attr-defined]


def _is_act(request: HttpRequest) -> bool:
    match = request.resolver_match
    if match is None:
        return False
    view: Any = getattr(match.func, "cls", match.func)
    if not view.__module__.startswith("nekibu.approvals."):
        return False
    return request.method not in SAFE or bool(getattr(view, "post_only", False))


def _code(request: HttpRequest, response: HttpResponse) -> str:
    known = getattr(request, "refused_code", "")
    if known or response.status_code == 405:
        return known or "method_not_allowed"
    if response.get("Content-Type", "").startswith("application/json"):
        return str(json.loads(response.content).get("code", "refused"))
    return "refused"
