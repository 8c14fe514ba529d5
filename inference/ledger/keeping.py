"""How the accounts are kept: facts written for what has come to rest, closed days summed up, old prefix hashes dropped."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from inference import measures
from inference.ledger import summed
from inference.ledger.facts import write_facts
from inference.ledger.selectors import cells_of
from inference.ledger.slices import Window, day_of, midnight
from inference.models import Decision, Fact, FactDue, PrefixChain, RollupDay, Slice
from inference.states import TERMINAL, WAITING
from nekibu.tenants.scope import current_tenant

AT_ONCE = 200
DAYS_AT_ONCE = 3
CHAINS_KEPT = timedelta(days=7)


def due(decision: Decision) -> None:
    """Have the facts of a decision written, or written anew. Call it in the transaction that changed its record.

    A row that is being worked on is waited for, so that the change is either in those facts or due again.
    """
    FactDue.objects.bulk_create(
        [FactDue(decision=decision, tenant_id=current_tenant())],
        update_conflicts=True,
        unique_fields=["tenant", "decision"],
        update_fields=["created_at"],
    )


def all_due() -> int:
    """Have all facts written anew, after their definition has changed. Returns how many decisions that are."""
    rest = Decision.objects.filter(status__in=TERMINAL | WAITING).order_by("id")
    n = 0
    for ids in _batches(rest.values_list("pk", flat=True).iterator(chunk_size=AT_ONCE)):
        FactDue.objects.bulk_create((FactDue(decision_id=pk) for pk in ids), ignore_conflicts=True)
        n += len(ids)
    return n


def keep_up(limit: int = AT_ONCE) -> int:
    """Write the facts that are due, oldest first, in the tenant's scope. Returns how many decisions were done.

    Two workers never take the same ones. A day that was summed up is no longer so once one of its facts has changed.
    """
    taken = list(FactDue.objects.select_for_update(skip_locked=True).order_by("id")[:limit])
    if not taken:
        return 0
    ids = [row.decision_id for row in taken]
    before = list(Fact.objects.filter(decision__in=ids).values_list("decision_id", "asked_at", "status"))
    written = write_facts(ids)
    _changed({day_of(at) for _decision, at, _status in before} | {day_of(fact.asked_at) for fact in written})
    _count(written, {decision for decision, _at, status in before if status in TERMINAL})
    FactDue.objects.filter(pk__in=[row.pk for row in taken]).delete()
    return len(taken)


def roll_up(now: datetime, limit: int = DAYS_AT_ONCE) -> int:
    """Sum up closed days, newest first, that are not yet. Returns how many."""
    today = day_of(now)
    asked = Fact.objects.filter(asked_at__lt=midnight(today)).order_by()
    have = set(RollupDay.objects.values_list("day", flat=True))
    days = sorted({day_of(at) for at in asked.datetimes("asked_at", "day")} - have, reverse=True)
    for day in days[:limit]:
        sum_up(day)
    return len(days[:limit])


def sum_up(day: date) -> None:
    """Replace what is summed up of a day."""
    _one_at_a_time(day)
    RollupDay.objects.filter(day=day).delete()
    cells = cells_of(Window(midnight(day), midnight(day + timedelta(1))))
    summed.write(day, cells)
    RollupDay.objects.create(day=day, facts=sum(cell.counts["facts"] for _slice, cell in cells))


def drop_chains(now: datetime) -> int:
    """Forget prefix hashes that are over their time."""
    return int(PrefixChain.objects.filter(created_at__lt=now - CHAINS_KEPT).delete()[0])


def _changed(days: set[date]) -> None:
    """These days have to be summed up again."""
    for day in sorted(day for day in days if day < day_of(timezone.now())):
        _one_at_a_time(day)
        RollupDay.objects.filter(day=day).delete()


def _count(written: Sequence[Fact], known: set[UUID]) -> None:
    """Tell the counters of the process of each decision that is closed now and was not before, once that is committed."""
    closed = {fact.decision_id for fact in written if fact.closing and fact.status in TERMINAL} - known
    if not closed:
        return
    kept = [fact for fact in written if fact.decision_id in closed]
    rows = Slice.objects.filter(pk__in={fact.slice_id for fact in kept}).values("id", *measures.SLICE)
    slices = {row["id"]: row for row in rows}
    transaction.on_commit(lambda: measures.closed([(slices[fact.slice_id], fact) for fact in kept]))


def _one_at_a_time(day: date) -> None:
    """Hold a day until the end of the transaction: whoever sums it up and whoever changes it wait for each other."""
    name = zlib.crc32(f"{current_tenant()}".encode())
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [name - (1 << 31), day.toordinal()])


def _batches(values: Iterable[Any]) -> Iterable[Sequence[Any]]:
    batch: list[Any] = []
    for value in values:
        batch.append(value)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
