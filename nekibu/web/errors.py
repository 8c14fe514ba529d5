"""Errors as pages: the same tree as the API, in the reader's language, saying what to do next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from nekibu.api.handler import error_response
from nekibu.errors import NekibuError


class ErrorPageMiddleware:
    """Turns a `NekibuError` raised by a page into its page; the API has its own handler."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Django calls this for every exception of a view."""
        if not isinstance(exception, NekibuError):
            return None
        if transaction.get_connection().in_atomic_block:
            transaction.set_rollback(True)
        if request.path.startswith("/api/") or request.headers.get("Accept", "").startswith("application/json"):
            return error_response(exception)
        return page_of(request, exception)


def page_of(request: HttpRequest, error: NekibuError) -> HttpResponse:
    """The page of one error."""
    context: dict[str, Any] = {"status": error.status, "title": _(error.message), "code": error.error_code, "data": error.data}
    return render(request, "errors/error.html", context, status=error.status)
