"""How long the rest of a batch may take. Pure: an interval from how many ended lately, never a single promise."""

from __future__ import annotations

import math
from dataclasses import dataclass

LOOK_BACK = 300.0  # seconds: how things go now says more than how they went
LEAST = 5  # ended items below which nothing is said
_Z = 1.6449  # 90 % of a normal distribution lies within


@dataclass(frozen=True, slots=True)
class Eta:
    """Seconds until the end: soonest and latest at 90 % confidence, if the pace of the last minutes holds."""

    soonest: float
    latest: float


def estimate(remaining: int, ended: int, seconds: float) -> Eta | None:
    """The rest at the pace at which `ended` items ended within `seconds`. None while that says too little.

    The ends are taken as a Poisson count; Byar's approximation gives its interval.
    """
    if remaining <= 0:
        return Eta(0.0, 0.0)
    if ended < LEAST or seconds <= 0:
        return None
    fewest = ended * (1 - 1 / (9 * ended) - _Z / (3 * math.sqrt(ended))) ** 3
    more = ended + 1
    most = more * (1 - 1 / (9 * more) + _Z / (3 * math.sqrt(more))) ** 3
    return Eta(remaining * seconds / most, remaining * seconds / fewest)
