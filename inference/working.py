"""Brings one decision from its key to rest: one transaction up to the gateway's door, then attempts, each recorded."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from inference import connection, idempotency, pipeline
from inference.classify import authorise, classify
from inference.connection import gateway
from inference.errors import Draining, EngineDown, GatewayLost, PromiseMissed, QueueFull
from inference.generation import Try, generate
from inference.idempotency import Overtaken, renewal
from inference.live import OnEvent, after_commit, publish
from inference.models import Decision
from inference.permissions import InferenceTag
from inference.selectors import outcome_of
from inference.settlement import close, keep_request, new_row, remember_evidence, settle
from inference.states import TERMINAL, WORKING, DecisionStatus
from inference.tokens import Tokenizer
from inference.trace import Trace
from inference.types import Completion, Outcome, TaskRequest, plain
from inference.usage import Usage
from inference.wire import Delta, Demoted, Frame, Phases, Queued, Restart, Started
from nekibu.audit.record import record
from nekibu.errors import OverBudget, Unavailable
from nekibu.jobs.enqueue import enqueue
from nekibu.tenants.scope import tenant_scope

CRASHES = 1  # how often one call asks again after the engine or the gateway broke, before it gives the decision back


@dataclass(frozen=True, slots=True)
class Begun:
    """A decision that this call owns, ready for the gateway."""

    decision: Decision
    prepared: pipeline.Prepared
    tokenizer: Tokenizer


def begin(request: TaskRequest, on_event: OnEvent | None, *, later: bool = False) -> Begun | Outcome | None:
    """Own the decision and prepare it; an Outcome when it is at rest, None while somebody else works on it.

    One that was put off to the batch clock is at rest too, for all but the worker that has come to do it `later`.
    """
    with tenant_scope(request.tenant_id):
        authorise(request)
        held = idempotency.find(request)
        if held is not None and held.status not in WORKING:
            return outcome_of(held)
        if held is not None and idempotency.busy(held):
            return None
        if held is not None and not later and put_off(held):
            return outcome_of(held)
    engine = connection.engine()
    tokenizer = connection.tokenizer(engine)
    with tenant_scope(request.tenant_id):
        held = idempotency.find(request)
        if held is not None and held.status not in WORKING:
            return outcome_of(held)
        if held is not None and idempotency.busy(held):
            return None
        if held is not None and put_off(held):
            if not later:
                return outcome_of(held)
            request = replace(request, mode="batch")
        asked = classify(request)
        if held is None:
            held = new_row(request, asked)
            if not idempotency.create(held):
                return None
            keep_request(held, request)
        idempotency.take(held)
        trace = Trace(held)
        prepared = pipeline.prepare(request, asked, engine, tokenizer, trace)
        remember_evidence(held, prepared.evidence)
        route, plan = prepared.route, prepared.plan
        facts = {
            "risk": prepared.profile.risk,
            "tier": route.tier,
            "route_reason": route.reason,
            "clock": plan.clock,
            "band": plan.band,
        }
        for name, fact in facts.items():
            setattr(held, name, fact)
        # The audit chain has one writer at a time in a tenant, so its lock is taken last.
        tag = InferenceTag.DECISION_RECEIVED if held.round == 1 else InferenceTag.DECISION_RESUMED
        record(request.actor, tag, held, task=held.task, round=held.round)
        trace.advance(DecisionStatus.PREPARED, request.actor, **facts)
        after_commit(held.id, "prepared", on_event, status=held.status, tier=route.tier, reason=route.reason)
        if route.tier == "person":
            return settle(held, prepared, None, trace, on_event)
        if route.tier == "rules":
            done = Completion("", 0, "primary", "", "stop", served_from="rules")
            return settle(held, prepared, pipeline.finish(prepared, done, trace), trace, on_event)
    renewal.hold(held)
    return Begun(held, prepared, tokenizer)


def work(begun: Begun, on_event: OnEvent | None, stop: threading.Event | None) -> Outcome:
    decision, prepared = begun.decision, begun.prepared
    actor, tenant = prepared.request.actor, prepared.request.tenant_id
    attempt = pipeline.first_attempt(prepared, str(decision.id))
    made, crashes = 0, 0
    while True:
        if stop is not None and stop.is_set():
            return _stopped(begun)
        with tenant_scope(tenant):
            row = idempotency.locked(decision)
            if not idempotency.owns(row, decision.round):
                return _overtaken(row)
            trace = Trace(row)
            this = Try(trace.attempts() + 1, attempt.kind)
            trace.step(
                "generate",
                attempt_id=attempt.ticket.attempt_id,
                attempt_no=this.attempt_no,
                kind=this.kind,
                max_out=attempt.ticket.max_out,
                prompt_tokens=len(attempt.ticket.input_ids),
                band=attempt.ticket.band,
            )
            trace.advance(DecisionStatus.QUEUED, actor, attempt_id=attempt.ticket.attempt_id)
            after_commit(row.id, "queued", on_event, attempt_no=this.attempt_no, band=attempt.ticket.band)
        done: Completion | Demoted
        lost: GatewayLost | None = None
        started: Started | None = None
        try:
            done, started = generate(gateway(), attempt.ticket, this, _observer(decision, prepared, on_event))
        except GatewayLost as broken:
            lost = broken
            done = Completion(
                attempt.ticket.attempt_id,
                this.attempt_no,
                this.kind,
                "",
                "error",
                Usage(),
                Phases(),
                max_out=attempt.ticket.max_out,
                cause="gateway_lost",
                retryable=True,
            )
        except (EngineDown, Draining, QueueFull, PromiseMissed) as refused:
            if (told := _refused(decision, tenant, this, refused)) is not None:
                return told
            raise
        if isinstance(done, Demoted):
            return _put_off(begun, this, done, on_event)
        made += 1
        with tenant_scope(tenant):
            row = idempotency.locked(decision)
            trace = Trace(row)
            if row.status == DecisionStatus.CANCELLED:
                done = replace(done, cause=row.reason or done.cause)
            trace.attempt(done, started, attempt.ticket.input_ids)
            if not idempotency.owns(row, decision.round):
                return _late(row, trace)
            if done.finish in {"abort", "error"} and done.retryable:
                again = crashes < CRASHES
            else:
                again = None
                report = pipeline.finish(prepared, done, trace)
                following = pipeline.next_attempt(prepared, report, done, str(row.id), begun.tokenizer, made)
                if following is None:
                    return settle(row, prepared, report, trace, on_event)
                trace.advance(DecisionStatus.RUNNING, actor)
                after_commit(row.id, "restart", on_event, attempt_no=this.attempt_no, reason=report.verdict)
                attempt = following
        if again is None:
            continue
        if not again:
            _let_go(decision, tenant)
            raise lost or EngineDown(decision_id=str(decision.id), cause=done.cause)
        crashes += 1
        made -= 1  # a crash of the engine is not an answer
        attempt = attempt.again()
        publish(decision.id, "restart", attempt_no=this.attempt_no, reason=done.cause)
        time.sleep(1.0 if lost else 0.0)


def put_off(decision: Decision) -> bool:
    """Whether its promise could not be kept, so that it waits for the batch clock."""
    waits = decision.status in WORKING and decision.clock == "batch" and decision.mode != "batch"
    return waits and decision.steps.filter(stage="schedule", payload__has_key="demoted_at").exists()


def _put_off(begun: Begun, this: Try, told: Demoted, on_event: OnEvent | None) -> Outcome:
    """Note it once, let go, and leave the work to the batch clock. The key stays the same, so asking again makes no second one."""
    actor = begun.prepared.request.actor
    with tenant_scope(begun.prepared.request.tenant_id):
        row = idempotency.locked(begun.decision)
        if not idempotency.owns(row, begun.decision.round):
            return _overtaken(row)
        plan = pipeline.put_off(begun.prepared)
        Trace(row).step(
            "schedule",
            schedule=plan,
            attempt_no=this.attempt_no,
            demoted_at=timezone.now(),
            cause=told.reason,
        )
        row.clock, row.band = plan.clock, plan.band
        row.save(update_fields=["clock", "band"])
        idempotency.give_back(row)
        enqueue("inference.decide", actor=actor, queue="batch", decision_id=str(row.id))
        after_commit(row.id, "demoted", on_event, status=row.status, reason=told.reason)
        return outcome_of(row)


def _stopped(begun: Begun) -> Outcome:
    """The caller went away before anything was asked."""
    with tenant_scope(begun.prepared.request.tenant_id):
        row = idempotency.locked(begun.decision)
        if row.status in WORKING:
            close(
                row,
                DecisionStatus.CANCELLED,
                begun.prepared.request.actor,
                reason="client_cancelled",
                valid=False,
            )
        return outcome_of(row)


def _observer(decision: Decision, prepared: pipeline.Prepared, on_event: OnEvent | None) -> Any:
    """Hears the frames of one attempt: moves the decision to running, and tells who watches.

    Text is provisional until it has been checked, so it is shown at low risk only.
    """
    tenant = prepared.request.tenant_id
    show_text = prepared.profile.risk in {"R0", "R1"}

    def tell(kind: str, **data: Any) -> None:
        publish(decision.id, kind, **data)
        if on_event is not None:
            on_event(kind, {"decision_id": str(decision.id), **plain(data)})

    def observe(frame: Frame) -> None:
        if isinstance(frame, Queued):
            tell("waiting", position=frame.position, ahead=frame.ahead)
        elif isinstance(frame, Started):
            with tenant_scope(tenant):
                row = idempotency.locked(decision)
                if idempotency.owns(row, decision.round):
                    Trace(row).advance(DecisionStatus.RUNNING, prepared.request.actor)
            tell("started", engine=frame.engine, model=frame.model, revision=frame.revision)
        elif isinstance(frame, Restart):
            tell("restart", reason="engine_lost")
        elif isinstance(frame, Delta) and show_text and frame.text:
            if prepared.plan.clock == "online":
                tell("delta", text=frame.text, verified=False)
            elif on_event is not None:
                on_event("delta", {"decision_id": str(decision.id), "text": frame.text, "verified": False})

    return observe


def _refused(
    decision: Decision, tenant: UUID, this: Try, refused: Unavailable | OverBudget
) -> Outcome | None:
    """Nothing was computed: note it and let go, so that the next call starts at once. An Outcome if it was closed meanwhile."""
    with tenant_scope(tenant):
        row = idempotency.locked(decision)
        if not idempotency.owns(row, decision.round):
            return _overtaken(row)
        Trace(row).step("refused", attempt_no=this.attempt_no, code=refused.error_code, **refused.data)
        idempotency.give_back(decision)
        return None


def _let_go(decision: Decision, tenant: UUID) -> None:
    """Let go of an unfinished decision in a transaction of its own."""
    with tenant_scope(tenant):
        idempotency.give_back(decision)


def _overtaken(row: Decision) -> Outcome:
    if row.status in WORKING:
        raise Overtaken(decision_id=str(row.id))
    return outcome_of(row)


def _late(row: Decision, trace: Trace) -> Outcome:
    """An answer that came after the decision was closed or taken over: paid and recorded, and nothing else."""
    trace.step("late", note="the answer came when the decision was no longer waiting for it")
    if row.status in TERMINAL:
        trace.reprice()
        trace.seal()
    return _overtaken(row)
