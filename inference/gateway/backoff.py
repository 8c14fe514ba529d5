"""How long to wait before the engine is started again, and when to say that it does not come up. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

SHORTEST, LONGEST = 1.0, 60.0
STEADY = 120.0  # served for this long, the next end counts as the first
WINDOW, MANY = 600.0, 5  # so many short lives within so many seconds: it is down


@dataclass(slots=True)
class Backoff:
    """One, two, four … sixty seconds. Many short lives in a row mean `down`: from then on one try a minute."""

    _pause: float = SHORTEST
    _ends: list[float] = field(default_factory=list)

    def after(self, served: float, now: float) -> tuple[float, bool]:
        """The pause after a life that served for so many seconds and ended now, and whether the engine counts as down."""
        if served >= STEADY:
            self._pause, self._ends = SHORTEST, []
        self._ends = [end for end in self._ends if now - end < WINDOW] + [now]
        if len(self._ends) >= MANY:
            return LONGEST, True
        pause, self._pause = self._pause, min(LONGEST, self._pause * 2)
        return pause, False
