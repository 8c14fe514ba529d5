"""Where the time of a decision went: six phases that add up, what is left over, and which phase makes the slow ones slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inference.metrics.stats import CONFIDENCE, Floats, cluster_bootstraps, least_n, percentile

PHASES = ("gateway_queue", "engine_queue", "prefill", "decode", "validate", "approve")
BESIDE = (
    "backlog",
    "prepare",
    "unattributed",
)  # waiting for a worker, preparing, and what nothing accounts for
PARTS = ("backlog", "prepare", *PHASES, "unattributed")
TAIL = 0.95
LEVERS: Mapping[str, tuple[str, ...]] = {
    "backlog": ("workers", "band"),
    "prepare": ("retrieval budget", "compression"),
    "gateway_queue": ("slots", "band", "demotion"),
    "engine_queue": ("slot cap",),
    "prefill": ("prefix order", "retrieval budget", "compression", "chunk size"),
    "decode": ("output bound", "speculation", "batch size", "quantisation"),
    "validate": ("rules", "source I/O"),
    "approve": ("staffing", "batching of approvals"),
    "unattributed": ("find out what it is",),
}


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Seconds of one decision by phase. None is "not observed"; the sum of all parts is the end-to-end time."""

    phases: Mapping[str, float | None]
    e2e: float | None = None
    prepare: float | None = None
    backlog: float | None = None

    @property
    def unattributed(self) -> float | None:
        """The end-to-end time less everything that was observed. It is its own bucket, never spread over the phases."""
        if self.e2e is None:
            return None
        parts = [*(self.phases.get(name) for name in PHASES), self.prepare, self.backlog]
        return self.e2e - sum(part for part in parts if part is not None)

    @property
    def adds_up(self) -> bool | None:
        """Whether the remainder is within 10 ms or 2 % of the whole, on either side; None while there is no whole."""
        left = self.unattributed
        if left is None or self.e2e is None:
            return None
        return abs(left) <= max(0.010, 0.02 * self.e2e) + 1e-9

    @property
    def model_seconds(self) -> float | None:
        """The end-to-end time without the waiting of a person: what a service target is about."""
        return None if self.e2e is None else self.e2e - (self.phases.get("approve") or 0.0)

    def part(self, name: str) -> float | None:
        """One of `PARTS`."""
        if name in BESIDE:
            value: float | None = getattr(self, name)
            return value
        return self.phases.get(name)


@dataclass(frozen=True, slots=True)
class Share:
    """The mean share of a phase in the end-to-end time of the slow requests, with its interval."""

    phase: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Dominant:
    """What the slowest twentieth of a slice spends its time on. `phase` is "mixed" where the first two overlap.

    None where there are too few requests to know who the slow ones are.
    """

    phase: str | None
    n: int
    needed: int
    tail: int = 0
    shares: tuple[Share, ...] = ()  # largest first
    levers: tuple[str, ...] = ()


def dominant(seconds: Floats, parts: Sequence[str], *, seed: int = 7) -> Dominant:
    """The dominant phase of a slice. `seconds` has a row for each request and a column for each of `parts`.

    The end-to-end time is the sum of the row; what was not observed is NaN and counts as nothing. Shares are compared,
    because the p95 of phases do not add up.
    """
    table = np.nan_to_num(np.asarray(seconds, dtype=np.float64), nan=0.0).clip(min=0.0)
    whole = table.sum(axis=1)
    n, needed = len(table), least_n(TAIL)
    if n < needed:
        return Dominant(None, n, needed)
    slow = (whole >= percentile(whole, TAIL)) & (whole > 0)
    shares = table[slow] / whole[slow, None]
    return of_shares(np.column_stack([np.ones(len(shares)), shares]), parts, n=n, seed=seed)


def of_shares(rows: Floats, parts: Sequence[str], *, n: int, seed: int = 7) -> Dominant:
    """The dominant phase from sums over clusters of slow requests: how many they are, then the sum of their shares."""
    needed = least_n(TAIL)
    tail = int(rows[:, 0].sum()) if len(rows) else 0
    if not tail:
        return Dominant(None, n, needed)
    means = rows[:, 1:].sum(axis=0) / tail
    intervals = cluster_bootstraps(
        rows, lambda totals: totals[:, 1:] / np.maximum(totals[:, :1], 1e-300), level=CONFIDENCE, seed=seed
    )
    found = [
        Share(phase, float(mean), *(interval or (0.0, 1.0)))
        for phase, mean, interval in zip(parts, means, intervals, strict=True)
    ]
    found.sort(key=lambda share: -share.mean)
    first, second = found[0], found[1]
    phase = first.phase if first.low > second.high else "mixed"
    levers = LEVERS.get(phase, tuple(dict.fromkeys((*LEVERS[first.phase], *LEVERS[second.phase]))))
    return Dominant(phase, n, needed, tail, tuple(found), levers)
