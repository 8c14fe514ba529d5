"""Acts on questions besides deciding: give away, hand over, take back, stop. By POST only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from nekibu.approvals import selectors, services
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.web.rights import actor_of
from nekibu.approvals.web.views import UNDO
from nekibu.approvals.web.words import refusal_words
from nekibu.errors import InvalidInput, NekibuError
from nekibu.users.access import page


def act(action: ApprovalAction) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """A page that only takes POST; another method is refused, and that is written down."""

    def wrap(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        guarded: Any = require_POST(page(action, POST=action)(view))
        guarded.post_only = True
        return guarded

    return wrap


@act(ApprovalAction.ASSIGN)
def assign(request: HttpRequest) -> HttpResponse:
    """Give the chosen questions to a person, or back to everybody; `undo` takes the last such act back."""
    actor, session = actor_of(request), request.session
    if "undo" in request.POST:
        held = session.pop(UNDO, None) or {}
        before = {UUID(key): UUID(value) if value else None for key, value in held.get("before", {}).items()}

        def back() -> str:
            n = services.assign_back(actor=actor, before=before)
            return ngettext("%(n)s question is where it was.", "%(n)s questions are where they were.", n) % {
                "n": n
            }

        return _done(request, back)

    def give() -> str:
        ids = [chosen_id("ids", text) for text in request.POST.getlist("ids")]
        user = request.POST.get("user", "")
        before = services.assign_many(
            actor=actor, approval_ids=ids, user_id=chosen_id("user", user) if user else None
        )
        kept = {str(key): str(value) if value else "" for key, value in before.items()}
        session[UNDO] = {"before": kept, "n": len(kept)}
        return ""

    return _done(request, give)


@act(ApprovalAction.READ)
def mark_read(request: HttpRequest) -> HttpResponse:
    """What this person was told has been read."""
    services.mark_read(actor=actor_of(request))
    return HttpResponseRedirect(reverse("inbox"))


@act(ApprovalAction.DECIDE)
def take_back(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """One's own word, while others are still asked."""

    def back() -> str:
        services.take_back(actor=actor_of(request), approval_id=approval_id)
        return _("Your word is taken back. That you gave it stays in the record.")

    return _done(request, back, reverse("approval", args=[approval_id]))


@act(ApprovalAction.DELEGATE)
def hand_over(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """Let a colleague decide one question in one's own name."""

    def hand() -> str:
        selectors.request_for(actor_of(request), approval_id)
        made = services.hand_over(
            actor=actor_of(request),
            approval_id=approval_id,
            user_id=chosen_id("user", request.POST.get("user", "")),
            note=request.POST.get("note", ""),
        )
        return _("%(name)s decides this in your name now.") % {"name": made.delegate.name}

    return _done(request, hand, reverse("inbox"))


@act(ApprovalAction.STOP)
def stop(request: HttpRequest) -> HttpResponse:
    """Engage the kill switch."""

    def engage() -> str:
        services.stop(actor=actor_of(request), reason=request.POST.get("reason", ""))
        return _("Deciding is stopped.")

    return _done(request, engage)


@act(ApprovalAction.STOP)
def release(request: HttpRequest, stop_id: UUID) -> HttpResponse:
    """Let people decide again."""

    def go_on() -> str:
        services.release(actor=actor_of(request), stop_id=stop_id)
        return _("Deciding goes on.")

    return _done(request, go_on)


def _done(request: HttpRequest, what: Callable[[], str], there: str = "") -> HttpResponse:
    """Do it, say what became of it, and go back to where the form was. What does not exist is a page of its own."""
    back = request.POST.get("next", "")
    if not (back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)):
        back = there or reverse("inbox")
    try:
        with transaction.atomic():
            said = what()
        if said:
            messages.success(request, said)
    except NekibuError as refused:
        if refused.status not in {400, 409, 410}:
            raise
        request.refused_code = refused.error_code  # type: ignore[attr-defined]
        messages.error(request, refusal_words(refused))
    return HttpResponseRedirect(back)


def chosen_id(field: str, text: str) -> UUID:
    """An id that a form sent. Raises InvalidInput for anything else."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(
            errors=[{"field": field, "code": "invalid", "message": _("Choose from the list.")}]
        ) from None
