"""Errors as pages: the same tree as the API, in the reader's language, saying what to do next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from nekibu.api.handler import error_response
from nekibu.errors import NekibuError, NotPermitted


class FormTooOld(NotPermitted):
    """This form is too old."""

    code = "form_too_old"


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
        api = request.path.startswith("/api/") or request.headers.get("Accept", "").startswith(
            "application/json"
        )
        response = error_response(exception) if api else page_of(request, exception)
        if transaction.get_connection().in_atomic_block:
            transaction.set_rollback(
                True
            )  # only now: the frame of the page still reads (the inbox, the company's name)
        return response


ICONS = {
    401: "user",
    403: "lock",
    404: "search",
    409: "triangle-alert",
    410: "clock",
    429: "clock",
    503: "loader-circle",
}


def page_of(request: HttpRequest, error: NekibuError) -> HttpResponse:
    """The page of one error: what happened, and what can be done now."""
    advice = {
        401: _("Sign in and try again."),
        403: _("Ask an administrator of your company for the right, or go back."),
        404: _("It may have been moved, or it belongs to somebody else. Check the address."),
        409: _("Somebody was faster. Load the page again to see how it stands now."),
        410: _("Its time is over. Load the list again."),
        429: _("Wait a moment and try again."),
        503: _("Nothing is lost. Try again in a moment."),
    }
    if isinstance(error, FormTooOld):
        advice[403] = _("You signed in or out since it was opened. Open the page again and repeat the step.")
    context: dict[str, Any] = {
        "status": error.status,
        "title": _(error.message),
        "text": advice.get(
            error.status,
            _("Nothing was changed. Go back and try again; if it stays, tell your administrator."),
        ),
        "detail": error.error_code,
        "icon": ICONS.get(error.status, "triangle-alert"),
        "retry": error.retryable or error.status in {409, 500},
    }
    return render(request, "errors/frame.html", context, status=error.status)
