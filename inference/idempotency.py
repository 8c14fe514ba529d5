"""One key, one decision: who works on it now, who may take it over, and whose word still counts."""

from __future__ import annotations

import threading
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, IntegrityError, close_old_connections, transaction
from django.utils import timezone

from inference.models import Decision
from inference.states import WORKING
from inference.types import TaskRequest
from nekibu.errors import Conflict
from nekibu.tenants.scope import tenant_scope

LEASE = timedelta(seconds=30)
RENEW_EVERY = 8.0


class IdempotencyMismatch(Conflict):
    """This idempotency key was already used for another request."""

    code = "idempotency_mismatch"


class Overtaken(Conflict):
    """Somebody else has taken this decision over; what was brought is recorded and counts for nothing else."""

    code = "overtaken"


def find(request: TaskRequest) -> Decision | None:
    """The decision of this key, locked. Raises IdempotencyMismatch when the key belongs to another request."""
    held = (
        Decision.objects.select_for_update()
        .filter(endpoint=request.endpoint, idempotency_key=request.idempotency_key)
        .first()
    )
    if held is not None and held.request_hash != request.content_hash():
        raise IdempotencyMismatch(decision_id=str(held.id))
    return held


def create(decision: Decision) -> bool:
    """Insert it under its key; False when another process was first (read it with `find`)."""
    try:
        with transaction.atomic():
            decision.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def busy(decision: Decision) -> bool:
    """Whether an owner who still lives works on it."""
    return (
        decision.status in WORKING
        and decision.owner_until is not None
        and decision.owner_until > timezone.now()
    )


def take(decision: Decision) -> None:
    """Own a locked decision for the next while: its round is the fence that makes an earlier owner's word void.

    Once the transaction stands, `renewal.hold` keeps it owned.
    """
    decision.round += 1
    decision.owner_until = timezone.now() + LEASE
    Decision.objects.filter(pk=decision.pk).update(round=decision.round, owner_until=decision.owner_until)


def locked(decision: Decision) -> Decision:
    """The row as it is now, locked, whoever owns it."""
    row: Decision = Decision.objects.select_for_update().get(pk=decision.pk)
    return row


def owns(row: Decision, round: int) -> bool:
    """Whether the owner of `round` still speaks for this decision."""
    return row.round == round and row.status in WORKING


def give_back(decision: Decision) -> None:
    """Let go of an unfinished decision, so that the next try need not wait."""
    renewal.release(decision.id)
    Decision.objects.filter(pk=decision.pk, round=decision.round, status__in=WORKING).update(owner_until=None)


class Renewal:
    """Keeps the decisions of this process owned, in one thread, while they are worked on."""

    def __init__(self) -> None:
        self._held: dict[UUID, tuple[UUID, int]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, decision: Decision) -> None:
        """Renew until `release`."""
        with self._lock:
            self._held[decision.id] = (decision.tenant_id, decision.round)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="decision-renewal", daemon=True)
                self._thread.start()

    def release(self, decision_id: UUID) -> None:
        """Stop renewing."""
        with self._lock:
            self._held.pop(decision_id, None)

    def _run(self) -> None:
        while True:
            self._wake.wait(RENEW_EVERY)
            with self._lock:
                held = dict(self._held)
                if not held:
                    self._thread = None
                    return
            for decision_id, (tenant_id, round) in held.items():
                try:
                    with tenant_scope(tenant_id):
                        Decision.objects.filter(pk=decision_id, round=round, status__in=WORKING).update(
                            owner_until=timezone.now() + LEASE
                        )
                except DatabaseError:
                    close_old_connections()
            close_old_connections()


renewal = Renewal()
