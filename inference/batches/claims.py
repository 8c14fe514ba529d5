"""Claims on items: take a group, renew, begin, finish, give back, heal. A fence makes a zombie's word change no row."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, close_old_connections, connection
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from inference.batches import fairness
from inference.models import BatchItem, BatchShare
from inference.states import BatchStatus, ItemStatus
from nekibu.errors import Conflict
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope

AT_ONCE = 32  # items that are claimed before the next tenant has its turn
RENEW_EVERY = 10.0
LEASE = timedelta(seconds=3 * RENEW_EVERY)
MOST_ATTEMPTS = 5
USUAL = 1_000  # what an item is charged before the tenant's first has ended


class Fenced(Conflict):
    """Somebody else holds this item now; what was brought changes nothing."""

    code = "fenced"


@dataclass(frozen=True, slots=True)
class Claim:
    """Items that one worker holds for a while: one group of one tenant."""

    tenant_id: UUID
    owner: str
    items: tuple[BatchItem, ...]


def claimable(now: datetime) -> QuerySet[BatchItem]:
    """Items of the tenant in scope that could be claimed, in the order in which they would be."""
    rows: QuerySet[BatchItem] = BatchItem.objects.filter(
        status=ItemStatus.PENDING,
        available_at__lte=now,
        due_at__gt=now,
        batch__status=BatchStatus.IN_PROGRESS,
    )
    return rows.order_by("due_at", "prefix_hash", "subject_hash", "line")


def claim_next() -> Claim | None:
    """Claim a group for the tenant whose turn it is. None when nobody has work. Call it outside any scope."""
    waiting = standings(timezone.now())
    while (turn := fairness.next_of(waiting)) is not None:
        with tenant_scope(turn.tenant_id):
            found = claim()
        if found is not None:
            return found
        waiting = tuple(s for s in waiting if s != turn)  # another worker was quicker
    return None


def standings(now: datetime) -> tuple[fairness.Standing, ...]:
    """Every tenant with work, with its counter; one that came back has been lifted."""
    seen = []
    for tenant in Tenant.objects.order_by("id").only("id"):
        with tenant_scope(tenant.id):
            share = BatchShare.objects.first()
            if claimable(now).exists():
                served, backlogged = (share.served, share.backlogged) if share else (0, False)
                seen.append(fairness.Standing(tenant.id, served, backlogged))
            elif share is not None and share.backlogged:
                BatchShare.objects.filter(pk=share.pk).update(backlogged=False)
    lifted = fairness.lifted(seen)
    for standing, before in zip(lifted, seen, strict=True):
        if standing != before:
            with tenant_scope(standing.tenant_id):
                BatchShare.objects.get_or_create(defaults={"usual": USUAL})
                BatchShare.objects.update(
                    served=Greatest(F("served"), standing.served), backlogged=standing.backlogged
                )
    return lifted


def claim() -> Claim | None:
    """Claim one group of the tenant in scope: that of the item which is due first. Others' rows are passed over."""
    now = timezone.now()
    rows = claimable(now).select_for_update(skip_locked=True, of=("self",))
    first = rows.first()
    if first is None:
        return None
    group = rows.filter(namespace_hash=first.namespace_hash, prefix_hash=first.prefix_hash)
    items = list(group.order_by("due_at", "subject_hash", "line")[:AT_ONCE])
    share, _made = BatchShare.objects.get_or_create(defaults={"usual": USUAL})
    owner = f"{socket.gethostname()[:30]}:{os.getpid()}:{uuid4().hex[:12]}"
    held = {
        "status": ItemStatus.LEASED,
        "lease_owner": owner,
        "lease_until": now + LEASE,
        "charged": share.usual,
    }
    ids = [item.id for item in items]
    BatchItem.objects.filter(pk__in=ids).update(fence=F("fence") + 1, **held)
    BatchShare.objects.filter(pk=share.pk).update(served=F("served") + share.usual * len(items))
    for item in items:
        item.fence += 1
        for name, value in held.items():
            setattr(item, name, value)
    return Claim(first.tenant_id, owner, tuple(items))


def holds(item: BatchItem) -> QuerySet[BatchItem]:
    """The item's row, while this claim on it stands."""
    return BatchItem.objects.filter(pk=item.pk, fence=item.fence, status=ItemStatus.LEASED)


def begin(item: BatchItem) -> bool:
    """Count an attempt and go; False when the item is not to be asked any more. Call it in the tenant's scope."""
    going = holds(item).filter(batch__status=BatchStatus.IN_PROGRESS, due_at__gt=timezone.now())
    if not going.update(attempts=F("attempts") + 1):
        return False
    item.attempts += 1
    return True


def finish(
    item: BatchItem,
    status: ItemStatus,
    *,
    decision_id: UUID | None = None,
    cause: str = "",
    detail: Sequence[dict[str, Any]] = (),
    spent: int = 0,
) -> None:
    """Say what became of it, once. Raises Fenced, and so undoes the caller's transaction, when the claim no longer stands."""
    changed = holds(item).update(
        status=status,
        decision_id=decision_id,
        cause=cause[:60],
        detail=list(detail)[:20],
        ended_at=timezone.now(),
        lease_owner="",
        lease_until=None,
    )
    if not changed:
        raise Fenced(custom_id=item.custom_id)
    settle_share(item.charged, spent)


def give_back(items: Iterable[BatchItem], pause: timedelta, *, uncount: bool = False) -> None:
    """Let items wait again. `uncount` takes the attempt back that `begin` counted: nothing was computed in it."""
    until = timezone.now() + pause
    back: dict[str, Any] = {"attempts": F("attempts") - 1} if uncount else {}
    for item in items:
        if holds(item).update(
            status=ItemStatus.PENDING, lease_owner="", lease_until=None, available_at=until, **back
        ):
            settle_share(item.charged, 0)


def settle_share(charged: int, spent: int) -> None:
    """Put what was really spent in place of what was charged in advance."""
    changes: dict[str, Any] = {"served": Greatest(F("served") - charged + spent, 0)}
    if spent:
        changes["usual"] = (F("usual") * 15 + spent) / 16
    BatchShare.objects.update(**changes)


class Renewal:
    """Keeps the claims of this process alive, in one thread, while their items are worked on."""

    def __init__(self) -> None:
        self._held: dict[str, UUID] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, claim: Claim) -> None:
        """Renew until `release`."""
        with self._lock:
            self._held[claim.owner] = claim.tenant_id
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="batch-renewal", daemon=True)
                self._thread.start()

    def release(self, claim: Claim) -> None:
        """Stop renewing."""
        with self._lock:
            self._held.pop(claim.owner, None)

    def _run(self) -> None:
        idle = threading.Event()
        while True:
            idle.wait(RENEW_EVERY)
            with self._lock:
                held = dict(self._held)
                if not held:
                    self._thread = None
                    return
            for owner, tenant_id in held.items():
                renew(tenant_id, owner)
            connection.close()  # this thread sleeps: no session of its own stays behind


def renew(tenant_id: UUID, owner: str) -> None:
    """Hold what this claim still holds for another while."""
    try:
        with tenant_scope(tenant_id):
            BatchItem.objects.filter(lease_owner=owner, status=ItemStatus.LEASED).update(
                lease_until=timezone.now() + LEASE
            )
    except DatabaseError:
        close_old_connections()  # the next round tries again; the lease outlives three of them


renewal = Renewal()
