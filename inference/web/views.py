"""Pages: the list of decisions, the trace of one, the engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from inference import registry, selectors
from inference.account import Account, account_of
from inference.errors import EngineDown, GatewayLost
from inference.models import Decision
from inference.permissions import InferenceAction
from inference.services import gateway
from inference.states import WORKING, DecisionStatus
from inference.web.desk import asked
from inference.web.retelling import engine_detail, told
from inference.web.story import stages_of
from inference.web.words import (
    CAUSES,
    COST_STATES,
    DECIDED_BY,
    ENGINE_STATES,
    ENGINE_TONE,
    FINDINGS,
    FINISHES,
    KINDS,
    PHASES,
    QUEUES,
    ROUTE_REASONS,
    STATUS_TONE,
    VALUES,
    counters,
    word,
)
from nekibu.errors import NotFound
from nekibu.permissions.policies import decide
from nekibu.users.access import page

PER_PAGE = 50


@page(InferenceAction.DECISION_READ)
def decisions(request: HttpRequest) -> HttpResponse:
    """The tenant's decisions, newest first."""
    rows = selectors.decisions_for(request.actor)  # type: ignore[attr-defined]
    chosen = {name: request.GET.get(name, "") for name in ("status", "task", "subject")}
    if chosen["status"] in DecisionStatus.values:
        rows = rows.filter(status=chosen["status"])
    if chosen["task"]:
        rows = rows.filter(task=chosen["task"])
    if chosen["subject"]:
        rows = rows.filter(subject_id=chosen["subject"])
    after = _uuid(request.GET.get("after", ""))
    if after is not None:
        rows = rows.filter(id__lt=after)
    found = list(rows[: PER_PAGE + 1])
    query = request.GET.copy()
    following = ""
    if len(found) > PER_PAGE:
        query["after"] = str(found[PER_PAGE - 1].id)
        following = f"?{query.urlencode()}"
    titles = {spec.slug: _(spec.title) for spec in registry.registered()}
    return render(
        request,
        "inference/decisions.html",
        {
            "rows": _lines(found[:PER_PAGE], titles),
            "next": following,
            "statuses": DecisionStatus.choices,
            "tasks": sorted(titles.items()),
            "chosen": chosen,
            "filtered": any(chosen.values()),
        },
    )


@page(InferenceAction.TRACE_READ)
def trace(request: HttpRequest, decision_id: UUID) -> HttpResponse:
    """How one decision came about."""
    account = account_of(selectors.decision_for(request.actor, decision_id))  # type: ignore[attr-defined]
    decision = account.decision
    value = account.outcome.value or {}
    return render(
        request,
        "inference/trace.html",
        {
            "account": account,
            "decision": decision,
            "title": _title(decision),
            "tone": STATUS_TONE.get(decision.status, "info"),
            "decided_by": word(DECIDED_BY, decision.decided_by) if decision.decided_by else "",
            "summary": _summary(account),
            "stages": stages_of(account),
            "verdict": value.get("verdict"),
            "value": [(word(VALUES, k), told(v) if isinstance(v, str) else v) for k, v in value.items() if k not in {"verdict", "pieces", "counter_pieces"} and v != [] and (not isinstance(v, str) or any(map(str.isalnum, v)))],
            "citations": [{"quote": c, "against": c.pointer.startswith("/counter")} for c in account.outcome.citations],
            "phases": [(word(PHASES, name), seconds) for name, seconds in account.phases],
            "attempts": [
                {"row": a, "kind": word(KINDS, a.kind), "finish": word(FINISHES, a.finish), "cause": word(CAUSES, a.cause), "cost_state": word(COST_STATES, a.cost_state)}
                for a in account.attempts
            ],
            "cost_state": word(COST_STATES, decision.cost_state or "unknown"),
            "working": decision.status in WORKING,
            "record": json.dumps([{"seq": s.seq, "stage": s.stage, **s.payload} for s in account.steps],
                                 cls=DjangoJSONEncoder, ensure_ascii=False, indent=1),
        },
    )  # fmt: skip


@page(InferenceAction.ENGINE_READ)
def engine(request: HttpRequest) -> HttpResponse:
    """This engine, this model: state, device, queues."""
    try:
        state: Any = gateway().state()
        views = gateway().engines()
    except (EngineDown, GatewayLost):
        state, views = None, []
    queues = (
        [(word(QUEUES, name), state.queues[name]) for name in QUEUES if name in state.queues] if state else []
    )
    return render(
        request,
        "inference/engine.html",
        {
            "gateway_state": state,
            "counters": counters(state.counters) if state else [],
            "queues": queues,
            "engines": [
                {
                    "view": view,
                    "state": word(ENGINE_STATES, view.state),
                    "tone": ENGINE_TONE.get(view.state),
                    "detail": engine_detail(view.detail),
                    "since": datetime.fromtimestamp(view.since, UTC),
                }
                for view in views
            ],
            "may_read_prices": bool(decide(request.actor, InferenceAction.PRICE_READ)),  # type: ignore[attr-defined]
        },
    )


def _lines(rows: Sequence[Decision], titles: dict[str, str]) -> list[dict[str, Any]]:
    questions = asked(rows)
    return [
        {
            "row": row,
            "title": questions.get(row.id) or titles.get(row.task, row.task),
            "tone": STATUS_TONE.get(row.status, "info"),
            "decided_by": word(DECIDED_BY, row.decided_by) if row.decided_by else "–",
        }
        for row in rows
    ]


def _title(decision: Decision) -> str:
    said = asked([decision]).get(decision.id)
    if said:
        return said
    try:
        return _(registry.find(decision.task, decision.task_version).title)
    except NotFound:
        return decision.task


def _summary(account: Account) -> str:
    """One paragraph that a person understands without the rest of the page."""
    decision = account.decision
    if decision.status in WORKING:
        return _("The decision is still being made. This page follows it.")
    if decision.status == DecisionStatus.ACCEPTED:
        by = {
            "rule": _("A rule decided this from the text itself; no model was asked."),
            "model": _("The model answered, and the answer passed every check."),
            "person": _("A person decided this."),
        }
        said = by.get(decision.decided_by, "")
        if decision.decided_by == "model" and account.approval is not None:
            said = _("The model answered, and a person agreed.")
    elif decision.status == DecisionStatus.AWAITING_APPROVAL:
        said = _("There is an answer, but it does not count until a person agrees.")
    elif decision.status == DecisionStatus.NEEDS_PERSON:
        said = _("The machine gives no answer here; a person decides.")
    elif decision.status == DecisionStatus.CANCELLED:
        said = _("The decision was stopped before it was finished.")
    elif decision.status == DecisionStatus.REJECTED:
        said = _("A person rejected the answer.")
    elif decision.status == DecisionStatus.EXPIRED:
        said = _("Nobody decided in time, so nothing counts.")
    else:
        said = _("The answer broke a rule and does not count.")
    codes = [c for c in decision.reason.split(", ") if c in FINDINGS]
    why = " ".join(word(FINDINGS, c) for c in dict.fromkeys(codes))
    if not why and decision.route_reason not in {"default", "solver"}:
        why = word(ROUTE_REASONS, decision.route_reason)
    return f"{said} {why}".strip()


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
