"""Percentiles, intervals and resampling. Every random draw is seeded; every figure carries its n."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Case = TypeVar("Case")
Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95
DRAWS = 2_000
PAIR_DRAWS = 10_000
CLUSTERS = 200  # more clusters than this are pooled at random into as many before they are drawn


@dataclass(frozen=True, slots=True)
class Quantile:
    """A percentile with what it rests on. Below `needed` samples there is no value: the cell reads "insufficient n".

    `low` and `high` are distribution-free bounds, each one-sided at 95 %; a bound that so few samples cannot give is
    None. From a histogram, `bucket` is where the value lies and `error` how far it may be off, as a share of it.
    """

    share: float
    n: int
    needed: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bucket: tuple[float, float] | None = None
    error: float = 0.0

    @property
    def enough(self) -> bool:
        """Whether there are enough samples for a bound from above."""
        return self.n >= self.needed


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; both bounds are None where there are too few cases for one."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@functools.lru_cache(maxsize=64)
def least_n(share: float, confidence: float = CONFIDENCE) -> int:
    """The fewest samples whose largest bounds this percentile from above: the least n with 1 - share^n ≥ confidence."""
    _inside(share)
    n = max(1, math.floor(math.log1p(-confidence) / math.log(share)))
    while 1 - share**n < confidence:
        n += 1
    return n


@functools.lru_cache(maxsize=512)
def rank(n: int, share: float) -> int:
    """The nearest rank, from 1: ceil(share · n), in exact arithmetic."""
    _inside(share)
    if n < 1:
        raise ValueError("a percentile needs at least one sample")
    return max(1, math.ceil(Fraction(repr(share)) * n))


def percentile(samples: Sequence[float] | Floats, share: float) -> float:
    """The nearest-rank percentile: always one of the samples, never a value between two of them."""
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    return float(ordered[rank(len(ordered), share) - 1])


def quantile(samples: Sequence[float] | Floats, share: float) -> Quantile:
    """The nearest-rank percentile of raw samples with its bounds, or that there are too few of them."""
    return quantiles(samples, (share,))[0]


def quantiles(samples: Sequence[float] | Floats, shares: Sequence[float]) -> list[Quantile]:
    """Several percentiles of the same samples."""
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    n, found = len(ordered), []
    for share in shares:
        needed = least_n(share)
        if n < needed:
            found.append(Quantile(share, n, needed))
            continue
        low, high = (None if place is None else float(ordered[place - 1]) for place in bound_ranks(n, share))
        found.append(Quantile(share, n, needed, float(ordered[rank(n, share) - 1]), low, high))
    return found


@functools.lru_cache(maxsize=512)
def bound_ranks(n: int, share: float, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """Ranks, from 1, of the order statistics that bound the percentile from below and from above, each one-sided."""
    start, mass = _binomial(n, share)
    below = np.cumsum(mass)  # P(B ≤ start + i), B samples lying at or under the percentile
    upper = int(np.searchsorted(below, confidence - 1e-12)) + start + 1
    at_least = 1 - np.concatenate(([0.0], below[:-1]))  # P(B ≥ start + i)
    enough = np.nonzero(at_least >= confidence - 1e-12)[0]
    lower = int(enough[-1]) + start if len(enough) else start
    return (lower if lower >= 1 else None), (upper if upper <= n else None)


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The two-sided interval in which a rate is shown."""
    _counted(successes, trials)
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    seen = successes / trials
    centre = seen + z * z / (2 * trials)
    half = z * math.sqrt(seen * (1 - seen) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def at_least(successes: int, trials: int, *, confidence: float = CONFIDENCE) -> float:
    """The rate that is excluded from below (one-sided Clopper-Pearson).

    With every one of n trials good this is the familiar (1 - confidence) ** (1 / n).
    """
    _counted(successes, trials)
    if successes == 0:
        return 0.0
    return _crossing(lambda p: _tail(trials, successes, p) >= 1 - confidence)


def at_most(successes: int, trials: int, *, confidence: float = CONFIDENCE) -> float:
    """The rate that is excluded from above (one-sided Clopper-Pearson); what a bound on errors is accepted by."""
    _counted(successes, trials)
    if successes == trials:
        return 1.0
    return 1.0 - at_least(trials - successes, trials, confidence=confidence)


def bootstrap(
    cases: Sequence[Case],
    statistic: Callable[[Sequence[Case]], float],
    *,
    draws: int = DRAWS,
    level: float = CONFIDENCE,
    seed: int = 7,
) -> tuple[float, float] | None:
    """Percentile interval of any statistic under resampling of whole cases; None below two cases.

    A case is the unit that is independent of the others (a CV, a trial), not the single call: calls about
    one CV share its text and would make the interval too narrow. Draws whose statistic is undefined are left out.
    """
    if len(cases) < 2:
        return None
    rng = np.random.default_rng(seed)
    values = [
        statistic([cases[place] for place in rng.integers(len(cases), size=len(cases))]) for _ in range(draws)
    ]
    return _interval(np.asarray(values), level)


def cluster_bootstrap(
    sums: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    *,
    draws: int = DRAWS,
    level: float = CONFIDENCE,
    seed: int = 7,
) -> tuple[float, float] | None:
    """Percentile interval of a statistic of sums, such as a ratio or a mean share, under resampling of whole clusters.

    `sums` has a row for each cluster (a document, a run, a decision) and a column for each sum; `statistic` takes the
    drawn totals, a row for each draw, and gives a figure for each. Many clusters are first pooled at random into
    CLUSTERS groups, which keeps the interval and bounds the work.
    """

    def one_column(totals: Floats) -> Floats:
        return np.asarray(statistic(totals), dtype=np.float64)[:, None]

    return cluster_bootstraps(sums, one_column, draws=draws, level=level, seed=seed)[0]


def cluster_bootstraps(
    sums: npt.ArrayLike,
    statistics_of: Callable[[Floats], Floats],
    *,
    draws: int = DRAWS,
    level: float = CONFIDENCE,
    seed: int = 7,
) -> list[tuple[float, float] | None]:
    """The same for several statistics of the same draws: `statistics_of` gives a column for each."""
    table = np.asarray(sums, dtype=np.float64)
    if len(table) > CLUSTERS:
        groups = np.random.default_rng(seed).permutation(len(table)) % CLUSTERS
        pooled = np.zeros((CLUSTERS, table.shape[1]))
        np.add.at(pooled, groups, table)
        table = pooled
    if len(table) < 2:
        return [None] * np.asarray(statistics_of(table.sum(axis=0, keepdims=True))).shape[1]
    # Without BLAS, whose threads would wait for each other on a busy machine.
    totals = np.einsum("dc,cs->ds", _times_drawn(len(table), draws, seed), table)
    drawn = np.asarray(statistics_of(totals))
    return [_interval(drawn[:, column], level) for column in range(drawn.shape[1])]


@functools.lru_cache(maxsize=8)
def _times_drawn(clusters: int, draws: int, seed: int) -> Floats:
    """How often each cluster is drawn, a row for each draw; always the same for the same seed."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=draws).astype(np.float64)


def ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """Σ first / Σ second: the weighted ratio, NaN where the denominator is 0."""
    below = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / below if below else math.nan


def ratio_of_sums(totals: Floats) -> Floats:
    """First column over second, for `cluster_bootstrap`; NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(totals[:, 1] == 0, np.nan, totals[:, 0] / totals[:, 1])
    return found


def paired_ratio(pairs: Sequence[tuple[float, float]], *, seed: int = 7) -> Estimate:
    """The ratio of two arms: the median of the ratios of interleaved pairs, with an interval over pairs."""
    if any(second <= 0 for _first, second in pairs):
        raise ValueError("a pair's second value must be above 0")
    ratios = np.asarray([first / second for first, second in pairs], dtype=np.float64)
    if not len(ratios):
        return Estimate(None, None, None, 0)
    centre = float(np.median(ratios))
    if len(ratios) < 2:
        return Estimate(centre, None, None, 1)
    rng = np.random.default_rng(seed)
    medians, at_once = [], max(1, 1_000_000 // len(ratios))
    for start in range(0, PAIR_DRAWS, at_once):
        drawn = rng.integers(len(ratios), size=(min(at_once, PAIR_DRAWS - start), len(ratios)))
        medians.append(np.median(ratios[drawn], axis=1))
    found = _interval(np.concatenate(medians), CONFIDENCE)
    low, high = found if found else (None, None)
    return Estimate(centre, low, high, len(ratios))


def _interval(values: Floats, level: float) -> tuple[float, float] | None:
    kept = np.sort(values[~np.isnan(values)])
    if not len(kept):
        return None
    tail = round((1 - level) / 2, 12)
    low, high = rank(len(kept), tail), rank(len(kept), round(1 - tail, 12))
    return float(kept[low - 1]), float(kept[high - 1])


def _binomial(n: int, share: float) -> tuple[int, Floats]:
    """The first of the counts that can happen at all, and the probability of it and of those after it."""
    mode = int((n + 1) * share)
    reach = math.ceil(12 * math.sqrt(n * share * (1 - share))) + 24
    start, end = max(0, mode - reach), min(n, mode + reach)
    counts = np.arange(start, end, dtype=np.float64)
    steps = np.log((n - counts) / (counts + 1)) + math.log(share / (1 - share))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    mass: Any = np.exp(logs - logs.max())
    return start, mass / mass.sum()


def _tail(n: int, successes: int, share: float) -> float:
    """P(B ≥ successes)."""
    if share <= 0 or share >= 1:
        return float(share >= 1 or successes == 0)
    start, mass = _binomial(n, share)
    if successes <= start:
        return 1.0
    return float(mass[successes - start :].sum())


def _crossing(above: Callable[[float], bool]) -> float:
    """The smallest share at which a rising condition holds."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return low


def _inside(share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")


def _counted(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError("successes must lie between 0 and trials, and trials above 0")
