"""Hit rates of the prefix cache, how much of the traffic they rest on, and where the distance to the ideal comes from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from inference.metrics.prefixes import Ints

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Reads:
    """Sums over requests, each counted once. Only those that report both figures are in the last four."""

    requests: int = 0
    reported: int = 0
    hits: int = 0  # requests that read anything
    input: int = 0
    read: int = 0
    ratios: float = 0.0  # Σ read / input

    def __add__(self, other: Reads) -> Reads:
        return Reads(
            self.requests + other.requests,
            self.reported + other.reported,
            self.hits + other.hits,
            self.input + other.input,
            self.read + other.read,
            self.ratios + other.ratios,
        )

    @property
    def by_tokens(self) -> float | None:
        """Σ read / Σ input: the token-weighted rate, the one that saves computing."""
        return self.read / self.input if self.input else None

    @property
    def by_requests(self) -> float | None:
        """The share of requests that read anything at all; shown beside the other, never instead."""
        return self.hits / self.reported if self.reported else None

    @property
    def mean_ratio(self) -> float | None:
        """The mean of the requests' own rates."""
        return self.ratios / self.reported if self.reported else None

    @property
    def coverage(self) -> float | None:
        """The share of requests that report both figures; the others are in none of the rates."""
        return self.reported / self.requests if self.requests else None


def reads(requests: Iterable[tuple[int | None, int | None]]) -> Reads:
    """Sums over (input tokens, tokens read), one pair for each request; None is "not reported" and stays outside."""
    found = Reads()
    for tokens, read in requests:
        if tokens is None or read is None:
            found += Reads(requests=1)
        else:
            found += Reads(1, 1, int(read > 0), tokens, read, read / tokens if tokens else 0.0)
    return found


def once(tries: Iterable[tuple[Name, int | None, int | None]]) -> dict[Name, tuple[int | None, int | None]]:
    """One pair for each request from (request, input, read) of every scheduling try: the first try speaks.

    A request that waited three times for a place asked the cache three times and is served once; one that was pushed
    out finds its own tokens when it is computed again, and that is no hit.
    """
    first: dict[Name, tuple[int | None, int | None]] = {}
    for name, tokens, read in tries:
        first.setdefault(name, (tokens, read))
    return first


@dataclass(frozen=True, slots=True)
class Counted:
    """Growth of two counters over a window, and how often they started again from nothing."""

    read: float
    input: float
    restarts: int

    @property
    def rate(self) -> float | None:
        """Σ read / Σ input of the window."""
        return self.read / self.input if self.input else None


def counted(samples: Sequence[tuple[float, float]]) -> Counted:
    """The window's growth from readings of (tokens read, input tokens) in order. A counter that falls means a restart.

    What a restart loses between the last reading and itself is unknown; from the restart on the new values count. A
    gauge of the engine is never used: it shows the last batch and not the window.
    """
    read = tokens = 0.0
    restarts = 0
    for (read_before, before), (read_after, after) in pairwise(samples):
        again = after < before or read_after < read_before
        restarts += again
        read += read_after if again else read_after - read_before
        tokens += after if again else after - before
    return Counted(read, tokens, restarts)


@dataclass(frozen=True, slots=True)
class Waterfall:
    """From the best that any cache could do down to what was read, as shares of the input tokens.

    The steps are differences, so they add up: free - isolation = kept, kept - granularity - lost = actual. `spread` is
    how much higher the ceilings may be, since blocks of 16 hide up to 15 shared tokens of each request.
    """

    requests: int
    tokens: int
    granularity: int
    free: float  # ceiling if nobody were kept apart
    isolation: float  # what keeping apart costs
    kept: float  # ceiling inside the namespaces
    too_small: float  # lost because only whole pages are shared
    lost: float  # evicted, out of order, or gone with a restart
    actual: float
    spread: float
    below_granularity: int  # requests that share something, but less than one page


def waterfall(
    tokens: Ints, free: Ints, kept: Ints, read: Ints, *, granularity: int = 1, spread: Ints | None = None
) -> Waterfall | None:
    """The steps of a window, one entry for each request that reports its reads; None without input tokens."""
    if not int(tokens.sum()):
        return None
    extra = 0 if spread is None else int(spread.sum())
    return of_sums(
        requests=len(tokens),
        tokens=int(tokens.sum()),
        free=int(free.sum()),
        kept=int(kept.sum()),
        paged=int((kept // granularity * granularity).sum()),
        read=int(read.sum()),
        highest=int(kept.sum()) + extra,
        below_granularity=int(np.count_nonzero((kept > 0) & (kept < granularity))),
        granularity=granularity,
    )


def of_sums(
    *,
    requests: int,
    tokens: int,
    free: int,
    kept: int,
    paged: int,
    read: int,
    highest: int,
    below_granularity: int,
    granularity: int,
) -> Waterfall:
    """The steps from sums of tokens; `highest` is what may have been shared at most inside the namespaces."""
    return Waterfall(
        requests=requests,
        tokens=tokens,
        granularity=granularity,
        free=free / tokens,
        isolation=(free - kept) / tokens,
        kept=kept / tokens,
        too_small=(kept - paged) / tokens,
        lost=(paged - read) / tokens,
        actual=read / tokens,
        spread=(highest - kept) / tokens,
        below_granularity=below_granularity,
    )
