"""How batches come to their end: nothing is open any more, the time is over, or somebody stopped them; and who heals what died."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from inference import services
from inference.batches import claims, files
from inference.batches.inputs import ENDPOINT, decision_of
from inference.batches.live import after_commit
from inference.models import Batch, BatchFile, BatchItem, Decision
from inference.permissions import InferenceTag
from inference.states import (
    BATCH_CLOSED,
    BATCH_MOVES,
    ITEM_OPEN,
    WORKING,
    BatchStatus,
    ItemStatus,
)
from nekibu.audit.transitions import move
from nekibu.errors import Conflict, NekibuError
from nekibu.jobs.enqueue import enqueue
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant, tenant_scope

log = logging.getLogger(__name__)
GOING = (BatchStatus.IN_PROGRESS, BatchStatus.PAUSED)


def conclude(batch_id: UUID) -> None:
    """Have the results written once no item is open. Call it in the tenant's scope."""
    batch = Batch.objects.select_for_update().get(pk=batch_id)
    if batch.finalizing_at is not None or batch.status not in {*GOING, BatchStatus.CANCELLING}:
        return
    if BatchItem.objects.filter(batch=batch, status__in=ITEM_OPEN).exists():
        return
    actor = Actor.system(current_tenant(), "batches")
    now = timezone.now()
    if batch.status == BatchStatus.CANCELLING:
        Batch.objects.filter(pk=batch.pk).update(finalizing_at=now)
    else:
        move_batch(batch, BatchStatus.FINALIZING, actor, finalizing_at=now)
    enqueue("inference.finalize_batch", actor=actor, queue="batch", batch_id=str(batch.id))


def move_batch(batch: Batch, to: BatchStatus, actor: Actor, note: str = "", **changes: Any) -> None:
    """The one way a batch's status moves; whoever watches hears of it."""
    move(batch, to, moves=BATCH_MOVES, actor=actor, tag=InferenceTag.BATCH_MOVED, note=note, **changes)
    after_commit(batch.id)


def sweep(now: datetime) -> bool:
    """Heal and end what is due in the tenant in scope. True when there is work to claim.

    Decisions of items that ended without them are stopped through the gateway, which needs no transaction: the caller
    does it with `stop_strays` afterwards.
    """
    _requeue(now)
    for batch in Batch.objects.filter(status=BatchStatus.VALIDATING, due_at__lte=now):
        with suppress(Conflict):
            move_batch(batch, BatchStatus.CANCELLING, _sweeper(), note="window_ended")
    overdue = BatchItem.objects.filter(status=ItemStatus.PENDING, due_at__lte=now, batch__status__in=GOING)
    overdue.update(status=ItemStatus.EXPIRED, cause="window_ended", ended_at=now)
    stopped = BatchItem.objects.filter(status=ItemStatus.PENDING, batch__status=BatchStatus.CANCELLING)
    stopped.update(status=ItemStatus.CANCELLED, cause="batch_cancelled", ended_at=now)
    for batch_id in Batch.objects.filter(
        status__in=(*GOING, BatchStatus.CANCELLING), finalizing_at__isnull=True
    ).values_list("id", flat=True):
        conclude(batch_id)
    return claims.claimable(now).exists()


def _requeue(now: datetime) -> None:
    """Items whose worker died: again, or to their end when there is no time, no wish or no attempt left."""
    dead = BatchItem.objects.filter(status=ItemStatus.LEASED, lease_until__lt=now)
    for item in dead.select_related("batch").select_for_update(skip_locked=True, of=("self",))[:500]:
        status, cause = ItemStatus.PENDING, ""
        if item.batch.status == BatchStatus.CANCELLING:
            status, cause = ItemStatus.CANCELLED, "batch_cancelled"
        elif item.due_at <= now:
            status, cause = ItemStatus.EXPIRED, "window_ended"
        elif item.attempts >= claims.MOST_ATTEMPTS:
            status, cause = ItemStatus.FAILED, "attempts_exhausted"
        row = decision_of(item) if status != ItemStatus.PENDING else None
        claims.holds(item).update(
            status=status,
            cause=cause,
            decision_id=row.id if row else None,
            ended_at=None if status == ItemStatus.PENDING else now,
            lease_owner="",
            lease_until=None,
            fence=F("fence") + 1,
        )
        claims.settle_share(item.charged, 0)
        log.info("the worker of item %s died: %s", item.id, status)


def stop_strays(tenant_id: UUID, now: datetime) -> None:
    """Stop the decisions that nobody waits for any more: of batches being cancelled, out of time, or given up. Outside a scope."""
    with tenant_scope(tenant_id):
        over = Q(status__in=(ItemStatus.FAILED, ItemStatus.CANCELLED, ItemStatus.EXPIRED))
        ended = BatchItem.objects.filter(over | Q(batch__status=BatchStatus.CANCELLING) | Q(due_at__lte=now))
        working = Decision.objects.filter(endpoint=ENDPOINT, status__in=WORKING)
        asked = {row.id: row.idempotency_key.split(":", 1) for row in working[:500]}
        strays = [
            decision_id
            for decision_id, (batch_id, custom_id) in asked.items()
            if ended.filter(batch_id=batch_id, custom_id=custom_id).exists()
        ]
    for decision_id in strays:
        try:
            services.cancel(
                actor=Actor.system(tenant_id, "batches"), decision_id=decision_id, reason="batch_ended"
            )
        except NekibuError as error:
            log.warning("decision %s could not be stopped: %s", decision_id, error.error_code)


def finalize(actor: Actor, batch_id: UUID) -> None:
    """Write the results and close the batch, once: a second call finds it closed."""
    with tenant_scope(actor.tenant_id):
        batch = Batch.objects.select_for_update().select_related("input_file").get(pk=batch_id)
        if batch.status in BATCH_CLOSED or batch.finalizing_at is None:
            return
        files.name_decisions(batch)
        output, errors = files.write_results(actor, batch)
        until = timezone.now() + files.KEPT
        BatchFile.objects.filter(pk=batch.input_file_id).update(delete_after=until)
        if batch.status == BatchStatus.CANCELLING:
            to = BatchStatus.CANCELLED
        else:
            late = BatchItem.objects.filter(batch=batch, status=ItemStatus.EXPIRED).exists()
            to = BatchStatus.EXPIRED if late else BatchStatus.COMPLETED
        move_batch(batch, to, actor, ended_at=timezone.now(), output_file=output, error_file=errors)


def delete_due(actor: Actor, now: datetime) -> None:
    """Let go of files that are over their time. Call it in the tenant's scope."""
    due = BatchFile.objects.filter(deleted_at__isnull=True, delete_after__lte=now)
    open_inputs = Batch.objects.filter(ended_at__isnull=True).values("input_file_id")
    for row in due.exclude(pk__in=open_inputs).select_related("stored")[:50]:
        files.delete(actor, row)


def _sweeper() -> Actor:
    return Actor.system(current_tenant(), "batches")
