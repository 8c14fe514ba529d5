"""Who waits, in strict bands, first come first served within one; pure: no clock, no input or output."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from inference.gateway.salt import Salt
from inference.slo import CLASSES, Band
from inference.wire import Refused, Ticket


@dataclass(eq=False, slots=True)
class Waiting:
    """A ticket with its salt and its times (seconds of the caller's clock)."""

    ticket: Ticket
    salt: Salt
    arrived: float
    expires: float
    number: int = 0  # given by the queue: who came before whom
    requeues: int = 0
    stopped: str = ""  # why it shall not be served any more

    @property
    def tokens(self) -> int:
        """What it may hold in the engine's pool."""
        return len(self.ticket.input_ids) + self.ticket.max_out

    @property
    def shared(self) -> tuple[tuple[str, str], ...]:
        """The prefixes that others may wait for, or that it may wait for."""
        if not self.salt.shared:
            return ()
        return tuple((self.salt.id, h) for h in (self.ticket.prefix_hash, self.ticket.share_hash) if h)


class Queue:
    """Bounded per band."""

    def __init__(self) -> None:
        self._bands: dict[Band, deque[Waiting]] = {band: deque() for band in Band}
        self._numbers = itertools.count(1)

    def push(self, waiting: Waiting) -> Refused | None:
        """Take it in, or refuse with a reason and a time to come back."""
        band = self._bands[waiting.ticket.band]
        if len(band) >= CLASSES[waiting.ticket.band].queue_bound:
            return Refused("queue_full", retry_after=10.0)
        waiting.number = next(self._numbers)
        band.append(waiting)
        return None

    def push_back(self, waiting: Waiting) -> None:
        """Take it in again, whatever the bound: before all who came after it."""
        band = self._bands[waiting.ticket.band]
        later = (place for place, other in enumerate(band) if other.number > waiting.number)
        band.insert(next(later, len(band)), waiting)

    def pop(self, follows: Callable[[Waiting], bool], fits: Callable[[Waiting], bool]) -> Waiting | None:
        """The first that may go, higher bands first.

        One that waits for somebody else's prefix lets others pass. One that waits for room does not: small requests would
        take every place that becomes free, and a large one would never go.
        """
        for band in self._bands.values():
            for waiting in band:
                if follows(waiting):
                    continue
                if not fits(waiting):
                    return None
                band.remove(waiting)
                return waiting
        return None

    def remove(self, waiting: Waiting) -> bool:
        """Take it out; False when it was not there."""
        try:
            self._bands[waiting.ticket.band].remove(waiting)
        except ValueError:
            return False
        return True

    def take(self, which: Callable[[Waiting], bool]) -> list[Waiting]:
        """All that are so, taken out."""
        found = [waiting for band in self._bands.values() for waiting in band if which(waiting)]
        for waiting in found:
            self.remove(waiting)
        return found

    def position(self, waiting: Waiting) -> tuple[int, int]:
        """Its place in its band from 1, and how many will be served before it."""
        place = self._bands[waiting.ticket.band].index(waiting) + 1
        ahead = place - 1
        for band in Band:
            if band == waiting.ticket.band:
                break
            ahead += len(self._bands[band])
        return place, ahead

    def counts(self) -> dict[str, int]:
        """How many wait in each band."""
        return {str(band): len(waiting) for band, waiting in self._bands.items()}
