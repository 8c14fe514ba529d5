"""The inbox: what waits for a person, and the page on which one thing is decided."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from nekibu.approvals import selectors, services
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.registry import desk_of
from nekibu.approvals.states import Status
from nekibu.errors import NekibuError, NotFound
from nekibu.files.models import ParsedText
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide as allowed
from nekibu.users.access import page

SHOWN = 200
PASSAGE = re.compile(r"^[Ee]?(\d{1,3})$")


@page(ApprovalAction.READ)
def inbox(request: HttpRequest) -> HttpResponse:
    """Everything that waits for this reader, by case, the oldest first."""
    waiting = list(selectors.inbox_for(request.actor))  # type: ignore[attr-defined]
    counts = Counter((r.kind, code) for r in waiting for code in dict.fromkeys(r.reasons))
    chosen = request.GET.get("reason", "")
    kept = [r for r in waiting if not chosen or chosen in r.reasons]
    groups: dict[str, dict[str, Any]] = {}
    asked = _questions(kept[:SHOWN])
    for row in kept[:SHOWN]:
        group = groups.setdefault(
            row.group_key or row.url or str(row.id), {"title": row.group_title, "url": row.url, "rows": []}
        )
        group["rows"].append(
            {"row": row, "question": asked.get(row.id, row.title), "reasons": reasons_of(row)}
        )
    return render(
        request,
        "approvals/inbox.html",
        {
            "groups": list(groups.values()),
            "total": len(waiting),
            "kept": len(kept),
            "cut": max(len(kept) - SHOWN, 0),
            "filters": [(code, desk_of(kind).reason(code), n) for (kind, code), n in counts.most_common()],
            "chosen": chosen,
        },
    )


@page(ApprovalAction.READ, POST=ApprovalAction.DECIDE)
def approval(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """One request in full, and the form that decides it. Nothing is chosen beforehand."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    row = selectors.requests_for(actor).filter(pk=approval_id).first()
    if row is None:
        raise NotFound
    status, problem = 200, ""
    if request.method == "POST":
        try:
            with transaction.atomic():
                _decide(actor, row, request)
        except NekibuError as refused:
            if refused.status not in {400, 403, 409, 410}:
                raise
            status, problem = refused.status, _words(refused)
            row = selectors.requests_for(actor).get(pk=approval_id)
        else:
            messages.success(request, _("Your word is in the record."))
            return HttpResponseRedirect(_onwards(request, actor, row))
    if row.status != Status.PENDING or status == 410:
        return render(
            request,
            "approvals/closed.html",
            {
                "row": row,
                "question": _questions([row]).get(row.id, row.title),
                "words": list(row.verdicts.all()),
                "problem": problem,
            },
            status=status,
        )
    return render(
        request, "approvals/approval.html", {**_context(actor, row), "problem": problem}, status=status
    )


def reasons_of(row: ApprovalRequest) -> list[str]:
    """Why a person is asked, in words."""
    return list(dict.fromkeys(desk_of(row.kind).reason(code) for code in row.reasons if code))


def _questions(rows: Sequence[ApprovalRequest]) -> dict[UUID, str]:
    """What is asked, one call for each kind."""
    said: dict[UUID, str] = {}
    for kind in dict.fromkeys(row.kind for row in rows):
        said |= desk_of(kind).questions([row for row in rows if row.kind == kind])
    return said


def _decide(actor: Actor, row: ApprovalRequest, request: HttpRequest) -> None:
    sent, desk = request.POST, desk_of(row.kind)
    answer, reason = sent.get("answer", ""), sent.get("reason", "")
    changed = answer in desk.answers(row)
    services.decide(
        actor=actor,
        approval_id=row.id,
        verdict="change" if changed else answer,
        reason=reason[:1000],
        nonce=sent.get("nonce", ""),
        value=desk.change(row, answer, _passages(sent.getlist("cited"), sent.get("pieces", "")), reason)
        if changed
        else None,
    )


def _passages(ticked: list[str], typed: str) -> list[str]:
    """Passage ids, ticked ones first; at most four. What is no passage number is left for the schema to refuse."""
    named = [*ticked, *re.split(r"[\s,;]+", typed[:60].strip())]
    found = [f"E{m.group(1)}" if (m := PASSAGE.match(n)) else n for n in named if n]
    return list(dict.fromkeys(found))[:4]


def _context(actor: Actor, row: ApprovalRequest) -> dict[str, Any]:
    desk, value = desk_of(row.kind), row.parameters.get("value") or {}
    proposed = str(value.get("verdict", "")) if isinstance(value, dict) else ""
    for_me = bool(set(row.roles) & actor.roles or "admin" in actor.roles) and bool(
        allowed(actor, ApprovalAction.DECIDE)
    )
    return {
        "row": row,
        "question": _questions([row]).get(row.id, row.title),
        "reasons": reasons_of(row),
        "proposed": proposed,
        "reasoning": desk.told(str(value.get("reasoning", ""))) if isinstance(value, dict) else "",
        "choices": desk.answers(row),
        "quotes": _quotes(row),
        "facts": [
            (name, held if isinstance(held, str) else json.dumps(held, ensure_ascii=False, indent=1))
            for name, held in row.parameters.items()
        ],
        "nonce": services.nonce_for(row, actor) if for_me else "",
        "for_me": for_me,
        "waiting": selectors.inbox_for(actor).count(),
    }


def _quotes(row: ApprovalRequest) -> list[dict[str, Any]]:
    """The sources, read again from the stored text at the version that the request names."""
    sources = row.parameters.get("sources") or []
    texts = dict(ParsedText.objects.filter(pk__in={s["version"] for s in sources}).values_list("id", "text"))
    against = set((row.parameters.get("value") or {}).get("counter_pieces") or [])
    return [
        {
            "piece": s["evidence_id"],
            "text": texts.get(UUID(s["version"]), "")[s["start"] : s["end"]],
            "against": s["evidence_id"] in against,
            "url": f"{row.url}?tab=text#ev-{s['start']}-{s['end']}" if row.url else "",
        }
        for s in sources
    ]


def _onwards(request: HttpRequest, actor: Actor, decided: ApprovalRequest) -> str:
    """Back where the form says (only inside this site), or on to the next: of the same case first, then the oldest."""
    back = request.POST.get("next", "")
    if back and url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/"):
        return back
    rest = selectors.inbox_for(actor)
    same = rest.filter(group_key=decided.group_key).first() if decided.group_key else None
    following = same or rest.first()
    return reverse("approval", args=[following.id]) if following else reverse("inbox")


def _words(refused: NekibuError) -> str:
    named = [str(e["message"]) for e in refused.data.get("errors", [])]
    return " ".join(named) or _(refused.message)
