"""What a request will cost an engine, learned from those that ended. Pure; until something was measured it claims nothing."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

KEPT = 200  # endings remembered for each task
FITTED = 40  # of them, the last, in a fit
EVERY = 10  # endings between two fits
ENOUGH = 8  # endings before a task is judged by its own
KEYS = 2_000
SPAN, SPANS = 2.0, 30  # seconds, and how many of such make the rate
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Ending:
    """What one try cost in the end; None where the engine did not say.

    `prefill` are the seconds from the engine's first look at it to its first token: what it waited for there is not its own cost.
    """

    uncached: int | None = None
    output: int | None = None
    prefill: float | None = None
    tpot: float | None = None


@dataclass(slots=True)
class _Line:
    """One task: its prompt takes `base + per_input·uncached` seconds, then each token `per_output`."""

    prefills: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=FITTED))
    speeds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    outputs: deque[int] = field(default_factory=lambda: deque(maxlen=KEPT))
    base: float = 0.0
    per_input: float = 0.0
    per_output: float = 0.0
    usual: int = 0  # output that three in four do not exceed
    mean: float = 0.0
    ended: int = 0

    def learn(self, ending: Ending) -> None:
        if ending.uncached is not None and ending.prefill is not None:
            self.prefills.append((ending.uncached, ending.prefill))
        if ending.tpot is not None:
            self.speeds.append(ending.tpot)
        if ending.output:
            self.outputs.append(ending.output)
        self.ended += 1
        if self.ended in {1, ENOUGH} or self.ended % EVERY == 0:
            self.base, self.per_input = theil_sen(self.prefills)
            self.per_output = median(self.speeds) if self.speeds else 0.0
            if self.outputs:
                self.usual, self.mean = rank(self.outputs, 0.75), sum(self.outputs) / len(self.outputs)


class CostModel:
    """One pool of engines. A task that has too few endings of its own is judged by all."""

    def __init__(self) -> None:
        self._all = _Line()
        self._lines: OrderedDict[str, _Line] = OrderedDict()

    def learn(self, key: str, ending: Ending) -> None:
        """Take an ending in."""
        line = self._lines.setdefault(key, _Line())
        self._lines.move_to_end(key)
        if len(self._lines) > KEYS:
            self._lines.popitem(last=False)
        line.learn(ending)
        self._all.learn(ending)

    def expected_out(self, key: str, max_out: int) -> int:
        """What three of four answers did not exceed, within its limit; the limit itself while nothing is known."""
        return min(max_out, self._of(key).usual or max_out)

    def mean_out(self, key: str, max_out: int) -> float:
        """What many answers together come to, each; for the work of a queue, not for one promise."""
        return min(max_out, self._of(key).mean or max_out)

    def prefill(self, key: str, uncached: int) -> float:
        """Seconds in which the engine reads it."""
        line = self._of(key)
        return line.base + line.per_input * uncached

    def work(self, key: str, uncached: int, out: float) -> float:
        """Seconds in which the engine reads and answers it."""
        return self.prefill(key, uncached) + self._of(key).per_output * out

    def coefficients(self) -> dict[str, float]:
        """Seconds for a request, a token read and a token written."""
        return {"base": self._all.base, "input": self._all.per_input, "output": self._all.per_output}

    def _of(self, key: str) -> _Line:
        line = self._lines.get(key)
        return line if line is not None and line.ended >= ENOUGH else self._all


class Rate:
    """How much work is done in a second while there is always more of it. Only whole spans with a backlog count."""

    def __init__(self, span: float = SPAN) -> None:
        self._seconds = span
        self._spans: deque[float] = deque(maxlen=SPANS)
        self._span, self._done, self._idle = -1, 0.0, True

    def did(self, work: float, now: float) -> None:
        """So much work has just ended."""
        self._turn(now)
        self._done += work

    def idle(self, now: float) -> None:
        """Nobody waits at this moment."""
        self._turn(now)
        self._idle = True

    def at(self, share: float) -> float | None:
        """The rate that this share of the spans did not exceed; None while too few are known."""
        return rank(self._spans, share) if len(self._spans) >= 3 else None

    def _turn(self, now: float) -> None:
        span = int(now // self._seconds)
        if span == self._span:
            return
        if not self._idle and span == self._span + 1:
            self._spans.append(self._done / self._seconds)
        # A span begins busy only where the one before it ended without a gap.
        self._idle = span != self._span + 1
        self._span, self._done = span, 0.0


def theil_sen(samples: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Base and slope of the line through the samples that a few wild ones do not move; neither is ever negative."""
    if not samples:
        return 0.0, 0.0
    points = list(samples)
    slopes = [
        (points[j][1] - points[i][1]) / (points[j][0] - points[i][0])
        for i in range(len(points))
        for j in range(i + 1, len(points))
        if points[j][0] != points[i][0]
    ]
    slope = max(0.0, median(slopes)) if slopes else 0.0
    return max(0.0, median(y - slope * x for x, y in points)), slope


def rank(values: Sequence[N] | deque[N], share: float) -> N:
    """The value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
