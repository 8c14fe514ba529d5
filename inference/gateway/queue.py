"""Who waits, in strict bands, first come first served within one; pure: no clock, no input or output."""

from __future__ import annotations

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
    requeues: int = 0

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
    """Bounded per band. A pushed-back request goes to the front of its band."""

    def __init__(self) -> None:
        self._bands: dict[Band, deque[Waiting]] = {band: deque() for band in Band}

    def push(self, waiting: Waiting, *, front: bool = False) -> Refused | None:
        """Take it in, or refuse with a reason and a time to come back."""
        band = self._bands[waiting.ticket.band]
        if front:
            band.appendleft(waiting)
            return None
        if len(band) >= CLASSES[waiting.ticket.band].queue_bound:
            return Refused("queue_full", retry_after=10.0)
        band.append(waiting)
        return None

    def pop(self, fits: Callable[[Waiting], bool]) -> Waiting | None:
        """The first that fits, higher bands first. One that does not fit yet lets those behind it pass."""
        for band in Band:
            waiting = next((w for w in self._bands[band] if fits(w)), None)
            if waiting is not None:
                self._bands[band].remove(waiting)
                return waiting
        return None

    def remove(self, waiting: Waiting) -> bool:
        """Take it out; False when it was not there."""
        try:
            self._bands[waiting.ticket.band].remove(waiting)
        except ValueError:
            return False
        return True

    def expired(self, now: float) -> list[Waiting]:
        """Those whose time is over, taken out."""
        over = [w for band in self._bands.values() for w in band if w.expires <= now]
        for waiting in over:
            self.remove(waiting)
        return over

    def position(self, waiting: Waiting) -> tuple[int, int]:
        """Its place in its band from 1, and how many will be served before it."""
        place = list(self._bands[waiting.ticket.band]).index(waiting) + 1
        ahead = place - 1
        for band in Band:
            if band == waiting.ticket.band:
                break
            ahead += len(self._bands[band])
        return place, ahead

    def counts(self) -> dict[str, int]:
        """How many wait in each band."""
        return {str(band): len(waiting) for band, waiting in self._bands.items()}
