"""Mergeable histograms: what is kept where raw samples are not, and how much a figure read from them may be off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from inference.metrics.stats import Floats, Quantile, bound_ranks, least_n, rank

FIRST_DECADE, LAST_DECADE = -6, 6
TOLERATED = 0.02  # a figure that may be off by more is shown as its bucket only


def _log_linear() -> tuple[float, ...]:
    """Round decimal edges, 150 to a decade: 1.000, 1.025 … 2.00, 2.05 … 5.0, 5.1 … 10. Service targets fall on them.

    The middle of a bucket is never more than 1.25 % away from a value in it.
    """
    mantissas = [
        *(1000 + 25 * step for step in range(40)),
        *(2000 + 50 * step for step in range(60)),
        *(5000 + 100 * step for step in range(50)),
    ]
    decades = range(FIRST_DECADE, LAST_DECADE)
    edges = [float(f"{mantissa}e{decade - 3}") for decade in decades for mantissa in mantissas]
    return (0.0, *edges, float(f"1e{LAST_DECADE}"))


LOG_LINEAR = _log_linear()
_LOG_LINEAR = np.asarray(LOG_LINEAR)


@dataclass(slots=True)
class Histogram:
    """Counts by bucket. Bucket i holds values above edge i - 1 and up to edge i; the last one all above the last edge."""

    edges: tuple[float, ...] = LOG_LINEAR
    counts: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Sequence[float] | Floats, edges: tuple[float, ...] = LOG_LINEAR) -> Self:
        """The histogram of these samples; NaN is no sample."""
        made = cls(edges)
        values = np.asarray(samples, dtype=np.float64)
        places, times = np.unique(made.places(values[~np.isnan(values)]), return_counts=True)
        made.counts = {int(place): int(n) for place, n in zip(places, times, strict=True)}
        return made

    def places(self, values: Floats) -> npt.NDArray[np.intp]:
        """The bucket of each value."""
        return np.searchsorted(_array(self.edges), values, side="left")

    @property
    def n(self) -> int:
        """How many samples are in it."""
        return sum(self.counts.values())

    def merge(self, *others: Histogram) -> Histogram:
        """All of them as one. Their edges must be the same."""
        merged = dict(self.counts)
        for other in others:
            if other.edges != self.edges:
                raise ValueError("histograms with different edges cannot be merged")
            for place, n in other.counts.items():
                merged[place] = merged.get(place, 0) + n
        return Histogram(self.edges, merged)

    def bucket(self, place: int) -> tuple[float, float]:
        """From where to where a bucket reaches."""
        low = self.edges[place - 1] if place else (0.0 if self.edges[0] >= 0 else -np.inf)
        high = self.edges[place] if place < len(self.edges) else np.inf
        return float(low), float(high)

    def quantile(self, share: float) -> Quantile:
        """The percentile's bucket, its middle as the value where that is exact enough, and bounds by bucket edges."""
        return self.quantiles((share,))[0]

    def quantiles(self, shares: Sequence[float]) -> list[Quantile]:
        """Several percentiles of the same samples."""
        places = sorted(self.counts)
        reached = np.cumsum([self.counts[place] for place in places])
        n, found = int(reached[-1]) if places else 0, []

        def at(position: int) -> tuple[float, float]:
            return self.bucket(places[int(np.searchsorted(reached, position))])

        for share in shares:
            needed = least_n(share)
            if n < needed:
                found.append(Quantile(share, n, needed))
                continue
            low, high = at(rank(n, share))
            error = 0.0 if high == low else (high - low) / 2 / low if low > 0 and high < np.inf else np.inf
            lower, upper = bound_ranks(n, share)
            found.append(
                Quantile(
                    share,
                    n,
                    needed,
                    (low + high) / 2 if error <= TOLERATED else None,
                    None if lower is None else at(lower)[0],
                    None if upper is None else at(upper)[1],
                    (low, high),
                    float(error),
                )
            )
        return found

    def at_most(self, limit: float) -> tuple[int, int]:
        """How many samples are at most `limit`, as the fewest and the most; they are equal where it is a bucket edge."""
        place = int(np.searchsorted(_array(self.edges), limit, side="left"))
        sure = sum(n for at, n in self.counts.items() if at < place)
        inside = self.counts.get(place, 0)
        exact = place < len(self.edges) and self.edges[place] == limit
        return (sure + inside, sure + inside) if exact else (sure, sure + inside)

    def to_json(self) -> dict[str, int]:
        """Bucket numbers and counts, in order."""
        return {str(place): self.counts[place] for place in sorted(self.counts)}

    @classmethod
    def from_json(cls, raw: Mapping[str, int]) -> Self:
        """The inverse of `to_json`, on the shipped edges."""
        return cls(LOG_LINEAR, {int(place): n for place, n in raw.items()})


def place_of(values: Floats) -> npt.NDArray[np.intp]:
    """The shipped bucket of each value."""
    return np.searchsorted(_LOG_LINEAR, values, side="left")


def _array(edges: tuple[float, ...]) -> Floats:
    return _LOG_LINEAR if edges is LOG_LINEAR else np.asarray(edges)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """All of them as one; an empty one where there is none."""
    found = list(histograms)
    return found[0].merge(*found[1:]) if found else Histogram()


def worst_error(edges: Sequence[float] = LOG_LINEAR) -> float:
    """How far the middle of a bucket can be from a value in it, as a share of the value; the first bucket apart."""
    return max((high - low) / 2 / low for low, high in pairwise(edges) if low > 0)
