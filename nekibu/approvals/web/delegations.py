"""My delegations: who decides in my name and when, and in whose name I decide."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from nekibu.approvals import selectors, services
from nekibu.approvals.models import Delegation
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.web.acts import act
from nekibu.approvals.web.rights import actor_of
from nekibu.approvals.web.words import day, questions_of, refusal_words
from nekibu.errors import InvalidInput, NekibuError
from nekibu.users.access import page


@page(ApprovalAction.DELEGATE)
def delegations(request: HttpRequest) -> HttpResponse:
    """Both directions, what holds now first; a POST makes a new one."""
    actor, now, status, problem = actor_of(request), timezone.now(), 200, ""
    if request.method == "POST":
        try:
            with transaction.atomic():
                made = _make(request)
        except NekibuError as refused:
            if refused.status not in {400, 404, 409}:
                raise
            request.refused_code = refused.error_code  # type: ignore[attr-defined]
            status, problem = refused.status, refusal_words(refused)
        else:
            messages.success(
                request, _("%(name)s decides in your name in that time.") % {"name": made.delegate.name}
            )
            return HttpResponseRedirect(reverse("delegations"))
    rows = list(selectors.delegations_of(actor)[:200])
    asked = questions_of([row.request for row in rows if row.request])
    lines: list[dict[str, Any]] = [
        {
            "row": row,
            "state": _state(row, now),
            "time": _time(row),
            "question": asked.get(row.request_id) if row.request_id else "",
        }
        for row in rows
    ]
    today = timezone.localdate()
    return render(
        request,
        "approvals/delegations.html",
        {
            "given": [line for line in lines if line["row"].principal_id == actor.user_id],
            "taken": [line for line in lines if line["row"].delegate_id == actor.user_id],
            "colleagues": selectors.colleagues(ApprovalAction.DECIDE, besides=actor.user_id),
            "away": selectors.away(now),
            "problem": problem,
            "typed": request.POST,
            "today": today,
            "latest": today + timedelta(days=365),
        },
        status=status,
    )


@act(ApprovalAction.DELEGATE)
def end(request: HttpRequest, delegation_id: UUID) -> HttpResponse:
    """End one at once."""
    try:
        with transaction.atomic():
            services.end_delegation(actor=actor_of(request), delegation_id=delegation_id)
        messages.success(request, _("The delegation has ended."))
    except NekibuError as refused:
        if refused.status != 409:
            raise
        request.refused_code = refused.error_code  # type: ignore[attr-defined]
        messages.error(request, refusal_words(refused))
    return HttpResponseRedirect(reverse("delegations"))


def _make(request: HttpRequest) -> Delegation:
    """Days are whole days of the reader's time zone, the last one included."""
    sent = request.POST
    first, last = _day(sent.get("starts", "")), _day(sent.get("ends", ""))
    errors = [
        {"field": name, "code": "invalid", "message": message}
        for name, fine, message in (
            ("user", _is_uuid(sent.get("user", "")), _("Choose a colleague.")),
            ("starts", first is not None, _("Say from which day.")),
            ("ends", last is not None, _("Say until which day.")),
        )
        if not fine
    ]
    if errors or first is None or last is None:
        raise InvalidInput(errors=errors)
    return services.delegate(
        actor=actor_of(request),
        user_id=UUID(sent["user"]),
        starts_at=first,
        ends_at=last + timedelta(days=1),
        note=sent.get("note", ""),
    )


def _day(text: str) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _time(row: Delegation) -> str:
    """From day to day; with the hour where it does not end with a day."""
    last = timezone.localtime(row.ends_at)
    ends_with_day = last.time() == time.min
    first = date_format(timezone.localtime(row.starts_at), "SHORT_DATE_FORMAT")
    shown = date_format(last - timedelta(days=1), "SHORT_DATE_FORMAT") if ends_with_day else day(row.ends_at)
    return first if first == shown else f"{first} – {shown}"


def _state(row: Delegation, now: datetime) -> tuple[str, str, bool]:
    """In words, its tone, and whether it can still be ended."""
    if row.ended_at is not None:
        return _("ended early"), "", False
    if row.ends_at <= now:
        return _("over"), "", False
    if row.starts_at > now:
        return _("planned"), "info", True
    return _("in force"), "success", True
