"""What the gateway kept for callers who were gone, and what else must be picked up behind them."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from inference import bodies, idempotency
from inference.connection import gateway
from inference.models import Decision
from inference.states import TERMINAL, WORKING
from inference.trace import Trace
from inference.wire import AttemptRecord
from nekibu.jobs.enqueue import enqueue
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope


def collect_attempts() -> int:
    """Write down the attempts whose caller was gone, and tell the gateway that they are safe. Returns how many."""
    kept = gateway().attempts()
    done = [item.attempt_id for item in kept if _collect(item)]
    if done:
        gateway().acknowledge(done)
    return len(done)


def _collect(item: AttemptRecord) -> bool:
    try:
        tenant, decision_id = UUID(item.tenant or ""), UUID(item.decision_id)
    except ValueError:
        return True  # nobody's: a probe of the gateway itself
    with tenant_scope(tenant):
        row = Decision.objects.select_for_update().filter(pk=decision_id).first()
        if row is None:
            return True
        known = list(row.attempts.filter(attempt_id=item.attempt_id))
        if any(a.collected or a.output is not None for a in known):
            return True
        step = row.steps.filter(stage="generate", payload__attempt_id=item.attempt_id).first()
        trace = Trace(row)
        no, kind, round = (
            (step.payload["attempt_no"], step.payload["kind"], step.round) if step else (0, "primary", 0)
        )
        trace.collected(item, no, kind, round)
        trace.step("collected", attempt_id=item.attempt_id, cause=item.cause)
        if row.status in TERMINAL:
            trace.reprice()
            trace.seal()
    return True


def tidy(actor: Actor) -> None:
    """Delete bodies that are over their time, and have orphaned decisions taken up again. Call it in the tenant's scope."""
    now = timezone.now()
    bodies.delete_due(now)
    orphans = Decision.objects.filter(status__in=WORKING, owner_until__lt=now - 20 * idempotency.LEASE)
    for row in orphans.order_by("id")[:50]:
        if Decision.objects.filter(pk=row.pk, owner_until=row.owner_until).update(owner_until=now):
            enqueue("inference.decide", actor=actor, queue="batch", decision_id=str(row.id))
