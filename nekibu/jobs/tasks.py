"""What a worker runs: the wrapper that claims an outbox row and acts for its actor, and the sweeper that heals."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from celery import Task, shared_task
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from nekibu.errors import NekibuError
from nekibu.jobs import leases
from nekibu.jobs.enqueue import ring
from nekibu.jobs.models import Outbox
from nekibu.permissions.actor import Actor
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope

log = logging.getLogger(__name__)


def tenant_task(name: str) -> Callable[[Callable[..., None]], Any]:
    """Register `function(actor, **kwargs)` as task `name`. It runs outside any scope and must bear being run again."""

    def register(function: Callable[..., None]) -> Any:
        @shared_task(name=name, bind=True, ignore_result=True)
        def run(self: Task) -> None:
            headers = self.request.get("nekibu_work"), self.request.get("nekibu_tenant")
            if None in headers:
                headers = (
                    (self.request.headers or {}).get("nekibu_work"),
                    (self.request.headers or {}).get("nekibu_tenant"),
                )
            perform(function, UUID(str(headers[1])), UUID(str(headers[0])))

        run.__doc__ = function.__doc__
        return run

    return register


def perform(function: Callable[..., None], tenant_id: UUID, work_id: UUID) -> None:
    """Claim the row, run the function, and finish or give back. A row that somebody else holds is left alone."""
    try:
        with tenant_scope(tenant_id):
            work = leases.claim(work_id)
    except DatabaseError as broken:
        close_old_connections()
        log.warning("cannot claim %s: %s", work_id, type(broken).__name__)
        return
    if work is None:
        return
    leases.renewal.hold(work)
    try:
        function(Actor.from_json(work.actor), **work.kwargs)
        with tenant_scope(tenant_id):
            leases.finish(work)
    except Exception as broken:
        _give_back(work, broken)
    finally:
        leases.renewal.release(work)


def _give_back(work: Outbox, broken: Exception) -> None:
    retry = not isinstance(broken, NekibuError) or broken.retryable or broken.status == 409
    log.warning(
        "work %s (%s) failed: %s",
        work.id,
        work.name,
        type(broken).__name__,
        exc_info=not isinstance(broken, NekibuError),
    )
    close_old_connections()
    try:
        with tenant_scope(work.tenant_id):
            leases.give_back(
                work,
                f"{type(broken).__name__}: {broken}",
                retry=retry,
                patient=isinstance(broken, NekibuError) and broken.retryable,
            )
    except DatabaseError:
        close_old_connections()  # the lease runs out by itself


@shared_task(name="jobs.sweep", ignore_result=True)
def sweep() -> None:
    """Ring again for every row that waits: its doorbell was lost, its pause is over, or its worker died."""
    now = timezone.now()
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            waiting = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True, available_at__lte=now)
            due = [w for w in waiting.order_by("id")[:200] if w.lease_until is None or w.lease_until < now]
        for work in due:
            ring(work)
