"""Intervals and orderings: bootstrap of a statistic over cases, percentiles, and interleaved runs of several arms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Case = TypeVar("Case")
Arm = TypeVar("Arm")


def bootstrap(
    cases: Sequence[Case],
    statistic: Callable[[Sequence[Case]], float],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 7,
) -> tuple[float, float] | None:
    """Percentile interval of the statistic under resampling of whole cases; None below two cases.

    A case is the unit that is independent of the others (a CV, a trial), not the single call: calls about
    one CV share its text and would make the interval too narrow. Draws whose statistic is undefined are left out.
    """
    if len(cases) < 2:
        return None
    rng = random.Random(seed)
    values = [statistic([rng.choice(cases) for _ in cases]) for _ in range(draws)]
    kept = sorted(value for value in values if not math.isnan(value))
    if not kept:
        return None
    tail = (1 - level) / 2
    return percentile(kept, tail), percentile(kept, 1 - tail)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between the neighbours; the input must be sorted and not empty."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """Σ first / Σ second: the weighted ratio, NaN where the denominator is 0."""
    below = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / below if below else math.nan


def at_least(successes: int, trials: int, *, confidence: float = 0.95) -> float:
    """The success rate that is excluded from below when all or some trials succeeded (one-sided Clopper-Pearson).

    With every one of n trials good this is the familiar (1 - confidence) ** (1 / n).
    """
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError("successes must lie between 0 and trials, and trials above 0")
    if successes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(
            math.comb(trials, k) * middle**k * (1 - middle) ** (trials - k)
            for k in range(successes, trials + 1)
        )
        low, high = (middle, high) if tail < 1 - confidence else (low, middle)
    return low


def interleaved(arms: Sequence[Arm], rounds: int, *, seed: int = 7) -> Iterator[tuple[int, Arm]]:
    """Every arm once a round, in a shuffled order, so that a drift of the machine falls on all of them alike."""
    rng = random.Random(seed)
    for number in range(rounds):
        order = list(arms)
        rng.shuffle(order)
        for arm in order:
            yield number, arm
