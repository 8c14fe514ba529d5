"""The front door of inference for other apps: decide now, submit for later, cancel, override."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from inference import bodies, idempotency, spans
from inference.approval import KIND
from inference.classify import authorise, classify
from inference.connection import gateway
from inference.errors import EngineDown, GatewayLost
from inference.idempotency import renewal
from inference.live import OnEvent
from inference.models import CacheEpoch, Decision
from inference.permissions import InferenceAction, InferenceTag
from inference.selectors import decision_for, outcome_of
from inference.settlement import close, keep_request, new_row, supersede
from inference.states import TERMINAL, WAITING, WORKING, DecisionStatus
from inference.types import Outcome, TaskRequest
from inference.working import begin, work
from nekibu.approvals import services as approval_services
from nekibu.approvals.models import ApprovalRequest
from nekibu.audit.record import record
from nekibu.errors import Conflict, InvalidInput, Unavailable
from nekibu.jobs.enqueue import enqueue
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.tenants.scope import tenant_scope

__all__ = ["cancel", "decide", "gateway", "override", "raise_epoch", "resume", "submit"]

POLL = 0.5


class InProgress(Unavailable):
    """Somebody else is working on this decision at the moment."""

    code = "in_progress"


def decide(
    request: TaskRequest,
    *,
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
    wait: float = 45.0,
    later: bool = False,
) -> Outcome:
    """Bring one decision to rest: accepted, waiting for a person, or failed. Call it outside a transaction.

    Where the task allows it, a decision that cannot begin in its promised time is put off: it comes back as it waits for the
    batch clock, and a worker ends it (`later`).

    The same key always means the same decision. A finished one is told again; one whose worker died is taken over and
    settles once; one that somebody works on is waited for, `wait` seconds, then InProgress is raised. Unavailable
    (engine or gateway away, queue full) leaves the decision as it is: call again with the same key.
    """
    with spans.decision(request.task, request.task_version, request.mode):
        return _decide(request, on_event, stop, wait, later)


def _decide(
    request: TaskRequest,
    on_event: OnEvent | None,
    stop: threading.Event | None,
    wait: float,
    later: bool,
) -> Outcome:
    until = time.monotonic() + wait
    while True:
        begun = begin(request, on_event, later=later)
        if isinstance(begun, Outcome):
            return begun
        if begun is not None:
            break
        if time.monotonic() >= until:
            raise InProgress(decision_id=known_id(request))
        time.sleep(POLL)
    try:
        return work(begun, on_event, stop)
    finally:
        renewal.release(begun.decision.id)


def refuse_early(request: TaskRequest) -> None:
    """Raise what `decide` would refuse before any cost, while the answer still has a status. Call it in the tenant's scope."""
    held = idempotency.find(request)
    if held is None:
        classify(request)
    else:
        authorise(request)


def submit(request: TaskRequest, *, queue: str = "batch") -> Outcome:
    """Take a request in and let a worker decide it. Refusals come now, everything else through `on_settled`."""
    with tenant_scope(request.tenant_id):
        authorise(request)
        held = idempotency.find(request)
        if held is None:
            asked = classify(request)
            held = new_row(request, asked)
            if not idempotency.create(held):
                raise InProgress
            keep_request(held, request)
            record(request.actor, InferenceTag.DECISION_RECEIVED, held, task=held.task)
            enqueue("inference.decide", actor=request.actor, queue=queue, decision_id=str(held.id))
        return outcome_of(held)


def resume(actor: Actor, decision_id: UUID) -> Outcome:
    """Work on a submitted or orphaned decision, from its stored request."""
    with tenant_scope(actor.tenant_id):
        decision = decision_for(actor, decision_id)
        stored = bodies.read(decision_id, "request") if decision.status in WORKING else None
        if stored is None:
            return outcome_of(decision)
    return decide(TaskRequest.from_json(stored), later=True)


def cancel(*, actor: Actor, decision_id: UUID, reason: str = "cancelled") -> Outcome:
    """Stop a decision. What the engine did until now is recorded and paid. A closed decision stays as it is."""
    with tenant_scope(actor.tenant_id):
        require(actor, InferenceAction.DECISION_CANCEL)
        decision = idempotency.locked(decision_for(actor, decision_id))
        attempt_id = decision.attempt_id
        if decision.status not in TERMINAL:
            approval_services.withdraw(actor=actor, kind=KIND, subject_id=str(decision.id), note=reason)
            close(decision, DecisionStatus.CANCELLED, actor, reason=reason, valid=False)
        told = outcome_of(decision)
    if attempt_id:
        with suppress(
            EngineDown, GatewayLost
        ):  # the stream ends with its gateway, and the gateway keeps the record
            gateway().cancel(attempt_id)
    return told


def override(*, actor: Actor, decision_id: UUID, value: Mapping[str, Any], reason: str, key: str) -> Outcome:
    """A person's answer in place of the machine's.

    While the decision waits, this is the word it waits for. A closed decision never changes: a new one supersedes it.
    """
    require(actor, InferenceAction.DECISION_OVERRIDE)
    if not reason.strip():
        raise InvalidInput(
            errors=[
                {
                    "field": "reason",
                    "code": "required",
                    "message": _("Give a reason; it stays in the record."),
                }
            ]
        )
    with tenant_scope(actor.tenant_id):
        decision = idempotency.locked(decision_for(actor, decision_id))
        if decision.status in WORKING:
            raise Conflict(current=decision.status, decision_id=str(decision.id))
        if decision.status in WAITING and decision.approval_id:
            waiting = ApprovalRequest.objects.get(pk=decision.approval_id)
            decided = approval_services.decide(
                actor=actor,
                approval_id=waiting.id,
                verdict="change",
                reason=reason,
                value=dict(value),
                params=waiting.params_hash,
            )
            if decided.status == "void":
                raise approval_services.ApprovalVoid
            return outcome_of(Decision.objects.get(pk=decision.id))
        return supersede(decision, actor, value, reason, key)


def raise_epoch(*, actor: Actor, trust_class: str = "") -> None:
    """Rights were narrowed: nothing computed before may be shared from now on. Call it in the transaction of the narrowing."""
    row, _made = CacheEpoch.objects.get_or_create(trust_class=trust_class)
    row = CacheEpoch.objects.select_for_update().get(pk=row.pk)
    CacheEpoch.objects.filter(pk=row.pk).update(value=row.value + 1)
    record(actor, InferenceTag.EPOCH_RAISED, row, trust_class=trust_class, value=row.value + 1)


def known_id(request: TaskRequest) -> str:
    with tenant_scope(request.tenant_id):
        row = Decision.objects.filter(
            endpoint=request.endpoint, idempotency_key=request.idempotency_key
        ).first()
        return str(row.id) if row else ""
