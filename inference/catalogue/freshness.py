"""When a row of the catalogue can still be relied on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

PRICES, BEHAVIOURS = timedelta(days=30), timedelta(days=90)
PEOPLE_FOR_A_CLAIM = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """One comparison with the source."""

    at: datetime
    by: UUID


def state(
    seen: Iterable[Seen], *, expires_at: datetime | None, now: datetime, lasts: timedelta = PRICES
) -> Literal["current", "stale"]:
    """Stale when nobody ever compared the row with its source, when that was too long ago, or when the row has expired."""
    last = max((one.at for one in seen), default=None)
    expired = expires_at is not None and expires_at <= now
    return "stale" if last is None or expired or now > last + lasts else "current"


def carries_a_claim(
    seen: Iterable[Seen], *, expires_at: datetime | None, now: datetime, lasts: timedelta = PRICES
) -> bool:
    """Whether a saving may be claimed from it: current, and two people have compared it within its time."""
    fresh = [one for one in seen if now <= one.at + lasts]
    people = {one.by for one in fresh}
    return (
        len(people) >= PEOPLE_FOR_A_CLAIM
        and state(fresh, expires_at=expires_at, now=now, lasts=lasts) == "current"
    )
