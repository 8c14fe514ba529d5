"""How much may be handed over again: a tenth of the load, so that a sick engine does not double the work of the others. Pure."""

from __future__ import annotations

from collections import deque

WINDOW = 60.0  # seconds
SHARE = 0.10  # of what was handed over in that time
ALWAYS = 10  # so many in that time are no storm, however little runs


class Retries:
    """The budget of one pool."""

    def __init__(self) -> None:
        self._handed: deque[float] = deque()
        self._again: deque[float] = deque()

    def handed(self, now: float) -> None:
        """A request was handed to an engine."""
        self._handed.append(now)
        _forget(self._handed, now)

    def take(self, now: float) -> bool:
        """Whether one more may be asked again; one that may counts."""
        _forget(self._handed, now)
        _forget(self._again, now)
        if len(self._again) >= max(ALWAYS, SHARE * len(self._handed)):
            return False
        self._again.append(now)
        return True


def _forget(times: deque[float], now: float) -> None:
    while times and now - times[0] >= WINDOW:
        times.popleft()
