"""Where the time of one decision went, from its record."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from inference.metrics.phases import PHASES, Breakdown
from inference.models import Attempt, Decision

PREPARING = frozenset({"classify", "retrieve", "protect", "compress", "assemble", "key", "route", "schedule"})


class Stage(Protocol):
    """What of a stage's row is needed here."""

    @property
    def stage(self) -> str: ...

    @property
    def seconds(self) -> float | None: ...

    @property
    def created_at(self) -> datetime: ...


def breakdown_of(decision: Decision, steps: Iterable[Stage], attempts: Iterable[Attempt]) -> Breakdown:
    """The phases of a decision, all its attempts together. One that nobody observed is None, which is not zero.

    A retry's wait is in the waiting of the next attempt. While a person has not decided, the whole ends where the
    waiting began.
    """
    rows, tries = list(steps), list(attempts)
    found = {name: _sum(getattr(a, name) for a in tries) for name in PHASES[:4]}
    found["validate"] = _sum(s.seconds for s in rows if s.stage == "checks")
    began = next((s.created_at for s in rows if s.stage == "classify"), None)
    rested, ended = decision.rested_at, decision.closed_at or decision.rested_at
    found["approve"] = (ended - rested).total_seconds() if rested and decision.closed_at and ended else None
    return Breakdown(
        phases=found,
        e2e=(ended - decision.created_at).total_seconds() if ended else None,
        prepare=_sum(s.seconds for s in rows if s.stage in PREPARING),
        backlog=(began - decision.created_at).total_seconds() if began else None,
    )


def _sum(values: Iterable[float | None]) -> float | None:
    seen = [value for value in values if value is not None]
    return sum(seen) if seen else None
