"""The inbox: what waits, for whom and how long; and what became of what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals import selectors
from nekibu.approvals.authority import queue_names
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.registry import desk_of
from nekibu.approvals.selectors import Waiting
from nekibu.approvals.states import CLOSED, Status
from nekibu.approvals.web.rights import actor_of, may
from nekibu.approvals.web.words import chips, day, notice_words, questions_of, reasons_of, said_by, span
from nekibu.permissions.actor import Actor
from nekibu.users.access import page

PER_PAGE = 100
TOLD = 5
AGES = {"1": timedelta(days=1), "3": timedelta(days=3), "7": timedelta(days=7)}
UNDO = "approvals_undo"


@page(ApprovalAction.READ)
def inbox(request: HttpRequest) -> HttpResponse:
    """What waits, by case, the oldest first: for this reader, given to them, or for anybody."""
    actor, now = actor_of(request), timezone.now()
    view = request.GET.get("view", "mine")
    view = view if view in {"mine", "given", "all"} else "mine"
    rows = {"mine": selectors.inbox_for, "given": selectors.given_to, "all": lambda *_: selectors.waiting()}[
        view
    ](actor, now)
    short = selectors.in_short(rows)
    chosen = {name: request.GET.get(name, "") for name in ("reason", "queue", "age", "holder")}
    kept = [row for row in short if _fits(row, chosen, now)]
    number = int(request.GET["page"]) if request.GET.get("page", "").isdecimal() else 1
    shown = kept[(number - 1) * PER_PAGE : number * PER_PAGE]
    found = list(rows.filter(pk__in=[row.id for row in shown]).prefetch_related("verdicts__retraction"))
    names = queue_names()
    told = list(selectors.unread(actor).select_related("request")[:TOLD])
    asked = questions_of(found)
    by_name, by_person = selectors.queues(short, now)
    return render(
        request,
        "approvals/inbox.html",
        {
            "groups": _groups(found, asked, actor, now),
            "view": view,
            "tabs": _tabs(actor, view, len(short)),
            "total": len(short),
            "kept": len(kept),
            "oldest": span(now - min(row.since for row in short)) if short else "",
            "filters": _filters(short, names),
            "chosen": chosen,
            "narrowed": any(chosen.values()),
            "queues": [(names.get(q.name, q.name), q, span(now - q.oldest), span(q.median)) for q in by_name],
            "holders": [(q.name, q, span(now - q.oldest), span(q.median)) for q in by_person if q.name],
            "notices": notice_words(told, questions_of([n.request for n in told if n.request])),
            "stands_in": [
                (held.principal, day(held.ends_at)) for held in selectors.stands_in_for(actor, now)
            ],
            "stops": list(selectors.stops()),
            "colleagues": selectors.colleagues(ApprovalAction.DECIDE)
            if found and may(actor, "ASSIGN")
            else [],
            "undo": request.session.get(UNDO),
            "may_delegate": may(actor, "DELEGATE"),
            "may_group": may(actor, "GROUPS"),
            "may_stop": may(actor, "STOP"),
            "next": _page_url(request, number + 1) if number * PER_PAGE < len(kept) else "",
            "previous": _page_url(request, number - 1) if number > 1 else "",
        },
    )


@page(ApprovalAction.READ)
def decided(request: HttpRequest) -> HttpResponse:
    """What nobody waits for any more, the last one first."""
    rows = selectors.decided()
    status = request.GET.get("status", "")
    if status in CLOSED:
        rows = rows.filter(status=status)
    after = request.GET.get("after", "")
    if re.fullmatch(r"[0-9a-f-]{36}", after):
        rows = rows.filter(id__lt=after)
    found = list(rows[: PER_PAGE + 1])
    asked = questions_of(found[:PER_PAGE])
    return render(
        request,
        "approvals/decided.html",
        {
            "rows": [
                {"row": row, "question": asked[row.id], "words": [said_by(w) for w in row.verdicts.all()]}
                for row in found[:PER_PAGE]
            ],
            "tabs": _tabs(actor_of(request), "decided", None),
            "statuses": [(value, label) for value, label in Status.choices if value in CLOSED],
            "chosen": status,
            "next": f"?status={status}&after={found[PER_PAGE - 1].id}" if len(found) > PER_PAGE else "",
        },
    )


def _groups(
    rows: Sequence[ApprovalRequest], asked: dict[UUID, str], actor: Actor, now: datetime
) -> list[dict[str, Any]]:
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(_case(row), {"title": row.group_title, "url": row.url, "rows": []})
        group["rows"].append(
            {
                "row": row,
                "question": asked[row.id],
                "reasons": reasons_of(row),
                "chips": chips(row, actor, now),
                "waits": span(now - row.created_at),
            }
        )
    return list(groups.values())


def _case(row: ApprovalRequest) -> str:
    return str(row.group_key or row.url or row.id)


def _fits(row: Waiting, chosen: dict[str, str], now: datetime) -> bool:
    return (
        (not chosen["reason"] or chosen["reason"] in row.reasons)
        and (not chosen["queue"] or chosen["queue"] in row.roles)
        and (chosen["age"] not in AGES or now - row.since >= AGES[chosen["age"]])
        and (not chosen["holder"] or chosen["holder"] == (row.assignee or "-"))
    )


def _filters(rows: Sequence[Waiting], names: dict[str, str]) -> dict[str, list[tuple[str, str, int]]]:
    reasons = Counter((r.kind, code) for r in rows for code in dict.fromkeys(r.reasons))
    queues = Counter(name for r in rows for name in r.roles)
    holders = Counter(r.assignee for r in rows)
    return {
        "reasons": [(code, desk_of(kind).reason(code), n) for (kind, code), n in reasons.most_common()],
        "queues": [(name, names.get(name, name), n) for name, n in queues.most_common()],
        "holders": [(name or "-", name or _("nobody yet"), n) for name, n in sorted(holders.items())],
        "ages": [(key, span(age), 0) for key, age in AGES.items()],
    }


def _tabs(actor: Actor, view: str, shown: int | None) -> list[dict[str, Any]]:
    named = [
        ("mine", _("For you"), "inbox", reverse("inbox")),
        ("given", _("Given to you"), "user-check", f"{reverse('inbox')}?view=given"),
        ("all", _("All that wait"), "users", f"{reverse('inbox')}?view=all"),
        ("decided", _("Decided"), "history", reverse("inbox-decided")),
    ]
    return [
        {
            "url": url,
            "label": label,
            "icon": icon,
            "count": shown if name == view else None,
            "current": name == view,
        }
        for name, label, icon, url in named
    ]


def _page_url(request: HttpRequest, number: int) -> str:
    query = request.GET.copy()
    query["page"] = str(number)
    return f"?{query.urlencode()}"
