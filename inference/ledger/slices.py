"""What figures are cut by, and the window that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from django.utils import timezone

from inference.models import Attempt, Decision, Slice
from inference.selectors import model_name

DIMENSIONS = (
    "product", "task", "node", "risk", "language", "model", "tier", "clock", "band", "cache",
)  # fmt: skip
TIMES = ("hour", "day")


@dataclass(frozen=True, slots=True)
class Window:
    """Decisions asked from `start` on and before `end`."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True, slots=True)
class Cut:
    """A window, the values that each dimension may have (none named: all), and what the figures are listed by."""

    window: Window
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: tuple[str, ...] = ()


def day_of(at: datetime) -> date:
    """The local day of a moment."""
    return at.astimezone(timezone.get_current_timezone()).date()


def midnight(day: date) -> datetime:
    """When a local day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=timezone.get_current_timezone())


def cache_state(attempt: Attempt | None) -> str:
    """What the prefix cache did for an attempt; empty where no model was asked."""
    if attempt is None:
        return ""
    if attempt.cache_read is None:
        return "unreported"
    return "hit" if attempt.cache_read else "miss"


def key_of(decision: Decision, attempt: Attempt | None) -> tuple[str, ...]:
    """The values of an attempt's slice, in the order of `DIMENSIONS`."""
    return (
        decision.product,
        decision.task,
        str(decision.correlation.get("node", ""))[:200],
        decision.risk,
        decision.locale,
        model_name(attempt.model) if attempt else "",
        decision.tier,
        decision.clock,
        decision.band,
        cache_state(attempt),
    )


def ids_of(keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], UUID]:
    """The id of each slice; those that are new are made. Call it in the tenant's scope."""
    wanted = set(keys)
    known = _known(wanted)
    missing = wanted - set(known)
    if missing:
        Slice.objects.bulk_create(
            (Slice(**dict(zip(DIMENSIONS, key, strict=True))) for key in missing), ignore_conflicts=True
        )
        known = _known(wanted)
    return known


def _known(wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], UUID]:
    tasks = {key[DIMENSIONS.index("task")] for key in wanted}
    rows = Slice.objects.filter(task__in=tasks).values_list(*DIMENSIONS, "id")
    return {tuple(row[:-1]): row[-1] for row in rows if tuple(row[:-1]) in wanted}
