"""How many requests got what they were promised, out of all that were sent, and how many of those a second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inference.metrics.stats import wilson


@dataclass(frozen=True, slots=True)
class Targets:
    """What a request was promised, in seconds; None is "nothing promised"."""

    ttft: float | None = None
    tpot: float | None = None
    e2e: float | None = None


def meets(targets: Targets, *, ttft: float | None, tpot: float | None, e2e: float | None) -> bool:
    """Whether every target is met. A time that was promised but not observed is a miss.

    A time per token needs two tokens; an answer of one token has none and cannot miss it.
    """
    if targets.ttft is not None and (ttft is None or ttft > targets.ttft):
        return False
    if targets.tpot is not None and tpot is not None and tpot > targets.tpot:
        return False
    return targets.e2e is None or (e2e is not None and e2e <= targets.e2e)


@dataclass(frozen=True, slots=True)
class Attainment:
    """Requests that met every target out of those sent. Errors, refusals, demotions and expiries are misses.

    What the caller cancelled was neither met nor missed: it is counted beside.
    """

    met: int
    sent: int
    cancelled: int = 0

    def __add__(self, other: Attainment) -> Attainment:
        return Attainment(self.met + other.met, self.sent + other.sent, self.cancelled + other.cancelled)

    @property
    def share(self) -> float | None:
        """None where nothing was sent."""
        return self.met / self.sent if self.sent else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the share."""
        return wilson(self.met, self.sent) if self.sent else None

    def goodput(self, seconds: float) -> float | None:
        """Requests per second that met every target."""
        return self.met / seconds if seconds > 0 else None


def attainment(outcomes: Iterable[bool | None]) -> Attainment:
    """From one outcome for each request sent: met, missed, or None where the caller cancelled it."""
    met = sent = cancelled = 0
    for outcome in outcomes:
        cancelled += outcome is None
        sent += outcome is not None
        met += outcome is True
    return Attainment(met, sent, cancelled)


def highest_rate(measured: Sequence[tuple[float, Attainment]], level: float) -> float | None:
    """The highest request rate at which the attainment was at least `level`; None where it never was.

    No shape is assumed: a rate that holds above one that does not is still the highest.
    """
    held = [rate for rate, found in measured if found.share is not None and found.share >= level]
    return max(held, default=None)
