"""Claims on outbox rows: take, renew, finish. A fence number makes a zombie's word count for nothing."""

from __future__ import annotations

import threading
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, close_old_connections, connection, models
from django.utils import timezone

from nekibu.jobs.models import Outbox
from nekibu.tenants.scope import tenant_scope

LEASE = timedelta(seconds=30)
RENEW_EVERY = 8.0
MAX_ATTEMPTS = 40


def claim(work_id: UUID) -> Outbox | None:
    """Take the row if it waits and nobody holds it; None otherwise. Call inside the tenant's scope."""
    now = timezone.now()
    taken = (
        Outbox.objects.filter(pk=work_id, done_at__isnull=True, dead_at__isnull=True)
        .filter(models.Q(lease_until__isnull=True) | models.Q(lease_until__lt=now))
        .update(lease_until=now + LEASE, fence=models.F("fence") + 1, attempts=models.F("attempts") + 1)
    )
    return Outbox.objects.get(pk=work_id) if taken else None


def finish(work: Outbox) -> bool:
    """Mark the row done, if this claim still holds."""
    return bool(
        Outbox.objects.filter(pk=work.pk, fence=work.fence, done_at__isnull=True).update(
            done_at=timezone.now(), lease_until=None
        )
    )


def give_back(work: Outbox, error: str, *, retry: bool, patient: bool = False) -> None:
    """Let the row go after a failure: again after a growing pause, or dead when it cannot help to try again.

    `patient` work waits for a part of the system that is away, however long that takes.
    """
    now = timezone.now()
    pause = timedelta(seconds=2 if patient else min(60, 2 ** min(work.attempts, 6)))
    dead = None if patient or (retry and work.attempts < MAX_ATTEMPTS) else now
    Outbox.objects.filter(pk=work.pk, fence=work.fence).update(
        lease_until=None, available_at=now + pause, dead_at=dead, error=error[:500]
    )


class Renewal:
    """Keeps the leases of this process alive, in one thread, while their work runs."""

    def __init__(self) -> None:
        self._held: dict[UUID, Outbox] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, work: Outbox) -> None:
        """Renew this claim until `release`."""
        with self._lock:
            self._held[work.id] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lease-renewal", daemon=True)
                self._thread.start()

    def release(self, work: Outbox) -> None:
        """Stop renewing."""
        with self._lock:
            self._held.pop(work.id, None)

    def _run(self) -> None:
        idle = threading.Event()
        while True:
            idle.wait(RENEW_EVERY)
            with self._lock:
                held = list(self._held.values())
            for work in held:
                self._renew(work)
            if held:
                connection.close()  # this thread sleeps: no session of its own stays behind

    @staticmethod
    def _renew(work: Outbox) -> None:
        try:
            with tenant_scope(work.tenant_id):
                Outbox.objects.filter(pk=work.pk, fence=work.fence, done_at__isnull=True).update(
                    lease_until=timezone.now() + LEASE
                )
        except DatabaseError:
            close_old_connections()  # the next round tries again; the lease outlives three of them


renewal = Renewal()
