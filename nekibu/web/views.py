"""The frame's own pages: start, health, readiness, language, appearance, errors."""

from __future__ import annotations

from django.conf import settings
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import activate
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from inference.permissions import InferenceAction
from nekibu.errors import InvalidInput, NotFound, NotPermitted
from nekibu.users.access import page, public
from nekibu.web.engine_status import engine_status as current_engine
from nekibu.web.errors import FormTooOld, page_of

THEMES = {"system": "", "nekibu": "nekibu", "nekibu-dark": "nekibu-dark"}


@public
def home(request: HttpRequest) -> HttpResponse:
    """To the work, or to the sign-in page."""
    signed_in = getattr(request, "actor", None) is not None
    return HttpResponseRedirect(reverse("ats-jobs") if signed_in else reverse("sign-in"))


@public
def health(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"ok": True})


@public
def ready(request: HttpRequest) -> HttpResponse:
    """Whether work can be done now: database and engine, each in a word. 503 until both can."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        database = "ready"
    except OperationalError:
        database = "down"
    engine = current_engine()
    shown = {
        name: str(engine.get(name, ""))
        for name in (
            "state",
            "name",
            "model",
            "revision",
            "device",
            "detail",
            "flag",
            "engines",
            "engines_ready",
            "worst",
        )
    }
    fit = database == "ready" and engine["state"] == "ready"
    return JsonResponse({"ready": fit, "database": database, "engine": shown}, status=200 if fit else 503)


@page(InferenceAction.ENGINE_READ)
def engine_status(request: HttpRequest) -> HttpResponse:
    """The header's chip, asked for every few seconds, and out of band the panel behind it."""
    context = {"engine": current_engine(), "oob": True}
    chip = render_to_string("components/engine_chip.html", context)
    return HttpResponse(chip + render_to_string("components/engine_panel.html", context))


@public
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Turkish or English, kept in a cookie."""
    code = request.POST.get("language", "")
    if code not in dict(settings.LANGUAGES):
        raise InvalidInput(_("Choose Turkish or English."))
    activate(code)
    response = _back(request)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        code,
        max_age=31_536_000,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


@public
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Light, dark, or as the system; kept in a cookie, so that no page flashes."""
    name = request.POST.get("theme", "")
    if name not in THEMES:
        raise InvalidInput(_("Choose light, dark or as the system."))
    response = _back(request)
    if THEMES[name]:
        response.set_cookie(
            "nekibu_theme", name, max_age=31_536_000, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie("nekibu_theme", samesite="Lax")
    return response


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """No such address."""
    return page_of(request, NotFound())


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Refused by Django itself."""
    return page_of(request, NotPermitted())


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Refused by Django itself: a host, a size or a cookie that cannot be used."""
    return page_of(request, InvalidInput())


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without the session's own token: opened before signing in or out, or not ours."""
    return page_of(request, FormTooOld())


def server_error(request: HttpRequest) -> HttpResponse:
    """Something of ours broke. The page leans on nothing that may be broken too: no database, no actor, no engine."""
    return HttpResponse(render_to_string("errors/500.html"), status=500)


def _back(request: HttpRequest) -> HttpResponseRedirect:
    wanted = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return HttpResponseRedirect(wanted if safe else "/")
