"""Reads of batches: how far one is, what it has cost so far, how long the rest may take, and why some failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from inference.batches.eta import LOOK_BACK, Eta, estimate
from inference.metrics.cost import total
from inference.models import Attempt, Batch, BatchFile, BatchItem, Decision
from inference.states import ITEM_OPEN, BatchStatus, ItemStatus
from inference.types import Cost, CostState
from nekibu.errors import NotFound
from nekibu.permissions.actor import Actor

ENDED = tuple(status for status in ItemStatus if status not in ITEM_OPEN)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the engine counted for a batch so far; None where an attempt did not report it."""

    uncached: int | None
    cache_read: int | None
    output: int | None


@dataclass(frozen=True, slots=True)
class Progress:
    """A batch at one moment."""

    status: str
    total: int
    counts: Mapping[str, int]
    tokens: Tokens
    cost: Cost
    eta: Eta | None

    @property
    def ended(self) -> int:
        """How many will not change any more."""
        return sum(self.counts[status] for status in ENDED)

    @property
    def percent(self) -> int:
        """Of all; 100 only when all have ended."""
        return self.ended * 100 // self.total if self.total else 0

    def flat(self) -> dict[str, Any]:
        """For a page that shows each figure by its name."""
        return {
            "status": self.status,
            "total": self.total,
            "ended": self.ended,
            "percent": self.percent,
            **self.counts,
        }


def batches_for(actor: Actor) -> QuerySet[Batch]:
    """The tenant's batches, newest first."""
    return Batch.objects.select_related("input_file").order_by("-id")


def batch_for(actor: Actor, batch_id: UUID) -> Batch:
    """One batch. Raises NotFound, also for another tenant's."""
    row = (
        batches_for(actor)
        .select_related("input_file", "output_file", "error_file", "retry_of")
        .filter(pk=batch_id)
    ).first()
    if row is None:
        raise NotFound
    return row


def files_for(actor: Actor) -> QuerySet[BatchFile]:
    """The tenant's files of batches, newest first."""
    return BatchFile.objects.order_by("-id")


def file_for(actor: Actor, file_id: UUID) -> BatchFile:
    """One file. Raises NotFound, also for another tenant's."""
    row = files_for(actor).select_related("stored").filter(pk=file_id).first()
    if row is None:
        raise NotFound
    return row


def items_for(actor: Actor, batch: Batch) -> QuerySet[BatchItem]:
    """Its items, in the order of their lines."""
    return BatchItem.objects.filter(batch=batch).order_by("line")


def counts_of(batches: list[Batch]) -> dict[UUID, dict[str, int]]:
    """Items by state, for each of these batches."""
    found = {batch.id: dict.fromkeys(map(str, ItemStatus), 0) for batch in batches}
    rows = BatchItem.objects.filter(batch__in=batches).values("batch_id", "status").annotate(n=Count("id"))
    for row in rows:
        found[row["batch_id"]][row["status"]] = row["n"]
    return found


def progress_of(batch: Batch, now: datetime | None = None) -> Progress:
    """How far it is now."""
    counts = counts_of([batch])[batch.id]
    remaining = sum(counts[status] for status in ITEM_OPEN)
    return Progress(
        status=batch.status,
        total=batch.total,
        counts=counts,
        tokens=_tokens(batch),
        cost=_cost(batch),
        eta=_eta(batch, remaining, now or timezone.now()),
    )


def failures_of(batch: Batch) -> list[dict[str, Any]]:
    """Why items have no answer: state, cause, how many, the first line of each, most frequent first."""
    rows = (
        BatchItem.objects.filter(batch=batch, status__in=ENDED)
        .exclude(status=ItemStatus.DONE)
        .values("status", "cause")
        .annotate(count=Count("id"), first_line=Min("line"))
        .order_by("-count", "status", "cause")
    )
    return list(rows)


def _tokens(batch: Batch) -> Tokens:
    """Of each attempt the row that speaks for it: what the gateway kept of one whose caller was gone comes before ours."""
    own = BatchItem.objects.filter(batch=batch, decision__isnull=False).values("decision_id")
    collected = Attempt.objects.filter(attempt_id=OuterRef("attempt_id"), collected=True)
    rows = Attempt.objects.filter(Q(collected=True) | ~Exists(collected), decision_id__in=own)
    sums = rows.aggregate(
        u=Sum("uncached"), c=Sum("cache_read"), o=Sum("output"), nu=Count("uncached"), nc=Count("cache_read"),
        no=Count("output"), n=Count("id"),
    )  # fmt: skip

    def whole(value: int | None, known: int) -> int | None:
        return (value or 0) if known == sums["n"] else None

    return Tokens(whole(sums["u"], sums["nu"]), whole(sums["c"], sums["nc"]), whole(sums["o"], sums["no"]))


def _cost(batch: Batch) -> Cost:
    own = BatchItem.objects.filter(batch=batch, decision__isnull=False).values("decision_id")
    rows = (
        Decision.objects.filter(pk__in=own)
        .exclude(cost_state="")
        .values("cost_currency", "cost_state")
        .annotate(amount=Sum("cost_amount"))
        .order_by()
    )
    return total(Cost(r["amount"], r["cost_currency"], cast("CostState", r["cost_state"])) for r in rows)


def _eta(batch: Batch, remaining: int, now: datetime) -> Eta | None:
    if batch.status != BatchStatus.IN_PROGRESS or batch.started_at is None:
        return None
    since = max(batch.started_at, now - timedelta(seconds=LOOK_BACK))
    lately = BatchItem.objects.filter(batch=batch, ended_at__gt=since).count()
    return estimate(remaining, lately, (now - since).total_seconds())
