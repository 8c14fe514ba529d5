"""Whose batches are served next. Pure: a counter for each tenant, and the one that has had least goes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

OUTPUT_WEIGHT = 2  # an output token occupies the engine longer than an input token


@dataclass(frozen=True, slots=True)
class Standing:
    """A tenant that has work which could be claimed now."""

    tenant_id: UUID
    served: int
    backlogged: bool  # had work the last time too


def weigh(uncached: int, output: int) -> int:
    """What an answer counts against its tenant: tokens that were computed for it. What came from the cache is free."""
    return uncached + OUTPUT_WEIGHT * output


def lifted(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """A tenant that comes back starts level with whoever has waited longest: time without work is not saved up."""
    waiting = [s.served for s in standings if s.backlogged]
    floor = min(waiting, default=0)
    return tuple(
        s if s.backlogged else replace(s, served=max(s.served, floor), backlogged=True) for s in standings
    )


def next_of(standings: Sequence[Standing]) -> Standing | None:
    """Whose turn it is; equal ones in the order of their ids."""
    return min(standings, key=lambda s: (s.served, s.tenant_id), default=None)
