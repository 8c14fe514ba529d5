"""One question: everything that is decided, and the form that decides it. Nothing is chosen beforehand."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nekibu.approvals import selectors, services
from nekibu.approvals.authority import Standing, approvals_of, queue_names, standing_of, standing_words
from nekibu.approvals.errors import ApprovalVoid, MethodNotAllowed
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.nonces import FormExpired
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.refusals import Refusal, note
from nekibu.approvals.registry import desk_of
from nekibu.approvals.rules import canonical
from nekibu.approvals.states import Status
from nekibu.approvals.web import step_up
from nekibu.approvals.web.rights import actor_of, may
from nekibu.approvals.web.words import chips, exactly, questions_of, reasons_of, refusal_words, said_by, span
from nekibu.errors import NekibuError
from nekibu.files.models import ParsedText
from nekibu.permissions.actor import Actor
from nekibu.users.access import page

PASSAGE = re.compile(r"^[Ee]?(\d{1,3})$")
DECISION_WORDS = frozenset({"answer", "verdict", "nonce", "params_hash"})


@page(ApprovalAction.READ, POST=ApprovalAction.DECIDE)
def approval(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """One request in full, and the form that decides it. Nothing is chosen beforehand."""
    actor = actor_of(request)
    row = selectors.request_for(actor, approval_id)
    if request.method != "POST" and DECISION_WORDS & set(request.GET):
        note(Refusal(actor, "decide", MethodNotAllowed.code, MethodNotAllowed.status, approval_id))
        return HttpResponseNotAllowed(["POST"], content=_("A decision is made by POST only."))
    status, problem = 200, ""
    if request.method == "POST":
        try:
            _confirm(request, actor, row)
            with transaction.atomic():
                row = _decide(request, actor, row)
        except NekibuError as refused:
            if refused.status not in {400, 403, 404, 409, 410, 412, 428}:
                raise
            request.refused_code = refused.error_code  # type: ignore[attr-defined]
            status, problem = refused.status, refusal_words(refused)
            gone = status == 410 and not isinstance(refused, FormExpired)
            row = selectors.request_for(actor, approval_id)
            if gone or row.status != Status.PENDING:
                return _closed(request, actor, row, problem, status)
        else:
            if row.status == Status.VOID:
                return _closed(request, actor, selectors.request_for(actor, row.id), "", ApprovalVoid.status)
            messages.success(request, _after(row))
            return HttpResponseRedirect(_onwards(request, actor, row))
    if row.status != Status.PENDING:
        return _closed(request, actor, row, problem, status)
    context = _context(request, actor, row) | {"problem": problem, "typed": request.POST.get("reason", "")}
    return render(request, "approvals/approval.html", context, status=status)


def _decide(request: HttpRequest, actor: Actor, row: ApprovalRequest) -> ApprovalRequest:
    sent, desk = request.POST, desk_of(row.kind)
    answer, reason = sent.get("answer", ""), sent.get("reason", "")
    changed = answer in desk.answers(row)
    return services.decide(
        actor=actor,
        approval_id=row.id,
        verdict="change" if changed else answer,
        reason=reason[:1000],
        nonce=sent.get("nonce", ""),
        value=desk.change(row, answer, _passages(sent.getlist("cited"), sent.get("pieces", "")), reason)
        if changed
        else None,
        confirmed_at=step_up.confirmed_at(request),
    )


def _confirm(request: HttpRequest, actor: Actor, row: ApprovalRequest) -> None:
    """Outside the act's own transaction, so that a wrong password is counted."""
    if row.step_up and request.POST.get("password"):
        step_up.confirm(request, actor, request.POST["password"])


def _after(row: ApprovalRequest) -> str:
    if row.status != Status.PENDING:
        return _("Your word is in the record.")
    missing = row.quorum - approvals_of(row)
    return ngettext(
        "Your word is in the record. %(n)s more person has to agree.",
        "Your word is in the record. %(n)s more people have to agree.",
        missing,
    ) % {"n": missing}


def _passages(ticked: list[str], typed: str) -> list[str]:
    """Passage ids, ticked ones first; at most four. What is no passage number is left for the schema to refuse."""
    named = [*ticked, *re.split(r"[\s,;]+", typed[:60].strip())]
    found = [f"E{m.group(1)}" if (m := PASSAGE.match(n)) else n for n in named if n]
    return list(dict.fromkeys(found))[:4]


def _onwards(request: HttpRequest, actor: Actor, decided: ApprovalRequest) -> str:
    """Back where the form says (only inside this site), or on to the next: of the same case first, then the oldest."""
    back = request.POST.get("next", "")
    if back and url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/"):
        return back
    rest = selectors.inbox_for(actor)
    same = rest.filter(group_key=decided.group_key).first() if decided.group_key else None
    following = same or rest.first()
    return reverse("approval", args=[following.id]) if following else reverse("inbox")


def _context(request: HttpRequest, actor: Actor, row: ApprovalRequest) -> dict[str, Any]:
    desk, value, now = desk_of(row.kind), row.parameters.get("value") or {}, timezone.now()
    proposed = str(value.get("verdict", "")) if isinstance(value, dict) else ""
    standing = standing_of(actor, row, now)
    for_me = bool(standing) and may(actor, "DECIDE")
    order = _order(actor, now)
    at = order.index(row.id) if row.id in order else None
    effects, names = desk.effects(row), queue_names()
    return {
        "row": row,
        "question": questions_of([row])[row.id],
        "reasons": reasons_of(row),
        "proposed": proposed,
        "approvable": desk.approvable(row),
        "reasoning": desk.told(str(value.get("reasoning", ""))) if isinstance(value, dict) else "",
        "choices": desk.answers(row),
        "quotes": _quotes(row),
        "effects": effects,
        "background": desk.background(row),
        "facts": [(name, exactly(held)) for name, held in row.parameters.items()],
        "exact": canonical(row.parameters),
        "chips": chips(row, actor, now),
        "waits": span(now - row.created_at),
        "names": [names.get(name, name) for name in row.roles],
        "nonce": services.nonce_for(row, actor) if for_me else "",
        "for_me": for_me,
        "why_not": _why_not(actor, standing),
        "in_the_name_of": standing.principal,
        "needs_password": row.step_up and not step_up.is_recent(request),
        "words": [(word, said_by(word)) for word in row.verdicts.all()],
        "own_word": next((w for w in standing_words(row) if w.person_id == actor.user_id), None),
        "stops": [stop for stop in selectors.stops() if stop.kind in {"", row.kind}],
        "position": at + 1 if at is not None else None,
        "waiting": len(order),
        "next": order[at + 1] if at is not None and at + 1 < len(order) else None,
        "previous": order[at - 1] if at else None,
        "colleagues": selectors.colleagues(ApprovalAction.DECIDE, besides=actor.user_id),
        "may_assign": may(actor, "ASSIGN"),
        "may_hand_over": for_me and standing.principal is None and may(actor, "DELEGATE"),
    }


def _closed(
    request: HttpRequest, actor: Actor, row: ApprovalRequest, problem: str, status: int
) -> HttpResponse:
    return render(
        request,
        "approvals/closed.html",
        {
            "row": row,
            "question": questions_of([row])[row.id],
            "words": [
                (
                    word,
                    said_by(word),
                    [
                        (
                            change["path"],
                            exactly(change["was"]) if "was" in change else "–",
                            exactly(change["is"]) if "is" in change else "–",
                        )
                        for change in word.diff
                    ],
                )
                for word in row.verdicts.all()
            ],
            "later": getattr(row, "superseded_by", None),
            "facts": [(name, exactly(held)) for name, held in row.parameters.items()],
            "problem": problem,
            "over": row.status in {Status.EXPIRED, Status.PENDING},
        },
        status=status,
    )


def _why_not(actor: Actor, standing: Standing) -> str:
    if not may(actor, "DECIDE"):
        return _("A person with another role decides this.")
    if standing.refusal is None:
        return ""
    return refusal_words(standing.refusal)


def _order(actor: Actor, now: datetime) -> list[UUID]:
    """The inbox as its list shows it: by case, the case with the oldest question first."""
    cases: dict[str, list[UUID]] = {}
    rows = selectors.inbox_for(actor, now).select_related(None)
    for key, group, url in rows.values_list("id", "group_key", "url"):
        cases.setdefault(str(group or url or key), []).append(key)
    return [key for case in cases.values() for key in case]


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
