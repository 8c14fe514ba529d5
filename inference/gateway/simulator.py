"""The gateway's own queue before a toy engine, on a clock that costs nothing: what the policy does to a load, by seed.

Orderings of policies carry over to a real engine, the figures do not.
"""

from __future__ import annotations

import heapq
import itertools
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from inference.gateway.cost import Ending
from inference.gateway.policy import Policy
from inference.gateway.queue import Admitted, Promoted, Queue, Room, Waiting
from inference.gateway.salt import Salt
from inference.slo import CLASSES, MAX_QUEUE_TTL, Band
from inference.wire import Demoted, Refused, Ticket

# Lengths of conversations, from the Azure LLM inference traces of 2023 (CC-BY): tokens at these shares of the requests.
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
INPUTS = (29, 181, 207, 387, 403, 703, 1020, 1071, 1130, 1315, 2735, 4083, 4142, 14050)
OUTPUTS = (16, 41, 54, 77, 91, 103, 129, 177, 384, 400, 424, 451, 601, 1000)
MIX = ((Band.INTERACTIVE, 0.4), (Band.STANDARD, 0.3), (Band.BATCH, 0.3))
HEARD_EVERY = 8  # tokens between two words to the queue: its counters lag by less than that
FILL = 0.9
End = Literal["done", "demoted", "rejected", "expired"]


@dataclass(frozen=True, slots=True)
class ToyEngine:
    """Each step reads at most a chunk of prompts and writes a token for all who are past theirs."""

    slots: int = 32
    chunk: int = 512
    step: float = 0.008
    per_input: float = 0.00006
    per_output: float = 0.00015
    pool: int = 200_000
    window: int = 2

    def slower(self, times: float) -> ToyEngine:
        """The same engine on a slower clock."""
        return replace(
            self, step=self.step * times, per_input=self.per_input * times, per_output=self.per_output * times
        )


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request of a load."""

    at: float
    tenant: str
    band: Band
    read: int
    write: int
    ttft: float | None
    on_miss: Literal["demote", "reject", "serve_late"] = "demote"
    ttl: float = 3_600.0
    max_out: int = OUTPUTS[-1]
    prefix: str = ""
    prefix_tokens: int = 0


@dataclass(slots=True)
class Told:
    """What became of one arrival. A demoted one ends as such, and its work is done later as batch."""

    arrival: Arrival
    ends: list[End] = field(default_factory=list)
    first: float | None = None
    last: float | None = None
    predicted: float | None = None
    left: float | None = None  # when it left the queue, however

    @property
    def ttft(self) -> float | None:
        return None if self.first is None else self.first - self.arrival.at

    @property
    def met(self) -> bool:
        """Whether its promise was kept. A demoted or refused one was not."""
        return self.ttft is not None and (self.arrival.ttft is None or self.ttft <= self.arrival.ttft)


@dataclass(frozen=True, slots=True)
class Report:
    """A run: what became of each arrival, in their order, and of the work that was demoted."""

    told: tuple[Told, ...]
    later: tuple[Told, ...]
    makespan: float
    idle_beside_work: (
        int  # turns at which a place stayed free although the first in order could have taken it
    )

    def middle(self, band: Band | None = None, tenant: str | None = None) -> list[Told]:
        """Those of a band and tenant without the first and the last tenth of all."""
        cut = len(self.told) // 10
        inner = self.told[cut : len(self.told) - cut]
        return [t for t in inner if band in {None, t.arrival.band} and tenant in {None, t.arrival.tenant}]

    def attainment(self, band: Band, tenant: str | None = None) -> float:
        """Share of promises kept."""
        found = self.middle(band, tenant)
        return sum(t.met for t in found) / len(found)

    def ttfts(self, band: Band, tenant: str | None = None) -> list[float]:
        """Of those that were served."""
        return [t.ttft for t in self.middle(band, tenant) if t.ttft is not None]

    def count(self, end: End) -> int:
        return sum(t.ends == [end] for t in self.told)


def arrivals(
    rate: float, count: int, seed: int, tenants: Sequence[tuple[str, float]] = (("a", 1.0),)
) -> list[Arrival]:
    """An open Poisson load of the mix; tenants by their share of it."""
    rng = random.Random(seed)  # noqa: S311  (a load, not a secret)
    names, weights = zip(*tenants, strict=True)
    found, at = [], 0.0
    for _ in range(count):
        at += rng.expovariate(rate)
        band = rng.choices([b for b, _share in MIX], [share for _b, share in MIX])[0]
        found.append(arrival(at, rng.choices(names, weights)[0], band, rng))
    return found


def flood(rates: dict[str, float], count: int, seed: int) -> list[Arrival]:
    """Tenants that all ask interactively, each at its own rate."""
    rng = random.Random(seed)  # noqa: S311
    clocks = [(rng.expovariate(rate), tenant) for tenant, rate in sorted(rates.items())]
    heapq.heapify(clocks)
    found = []
    for _ in range(count):
        at, tenant = heapq.heappop(clocks)
        found.append(arrival(at, tenant, Band.INTERACTIVE, rng))
        heapq.heappush(clocks, (at + rng.expovariate(rates[tenant]), tenant))
    return found


def arrival(at: float, tenant: str, band: Band, rng: random.Random) -> Arrival:
    """One request of usual lengths, with the promise of its band."""
    promise = CLASSES[band].ttft_ms
    return Arrival(
        at, tenant, band, drawn(INPUTS, rng.random()), drawn(OUTPUTS, rng.random()), None if promise is None else promise / 1000
    )  # fmt: skip


def drawn(table: Sequence[int], share: float) -> int:
    """The length that this share of the requests does not exceed, between the rows of the table."""
    row = bisect_left(SHARES, share)
    low, high = (SHARES[row - 1], table[row - 1]) if row else (0.0, 1), (SHARES[row], table[row])
    return max(1, round(low[1] + (share - low[0]) / (high[0] - low[0]) * (high[1] - low[1])))


def slower(load: Iterable[Arrival], times: float) -> list[Arrival]:
    """The same load on a slower clock."""
    return [
        replace(a, at=a.at * times, ttft=None if a.ttft is None else a.ttft * times, ttl=min(a.ttl * times, MAX_QUEUE_TTL))
        for a in load
    ]  # fmt: skip


def simulate(
    load: Sequence[Arrival], policy: Policy | None = None, engine: ToyEngine | None = None
) -> Report:
    """The load from its first arrival until all is done."""
    return _Run(load, policy or Policy(), engine or ToyEngine()).report()


@dataclass(eq=False, slots=True)
class _Inside:
    """A request in the engine."""

    waiting: Waiting
    told: Told
    entered: float
    unread: int
    read: int
    began: float | None = None
    said: int = 0


class _Run:
    def __init__(self, load: Sequence[Arrival], policy: Policy, engine: ToyEngine) -> None:
        self.queue, self.engine = Queue(policy), engine
        self.ids = (7,) * max(a.read for a in load)
        self.numbers = itertools.count(1)
        self.told = [Told(a) for a in load]
        self.later: list[Told] = []
        self.owners: dict[str, Told] = {}
        self.prefilling: list[_Inside] = []
        self.ends: list[tuple[int, int, _Inside]] = []  # by the step of their last token
        self.writing: dict[int, list[_Inside]] = {}  # by the step at which the queue is told again
        self.held = 0
        self.steps = 0
        self.computed: set[tuple[str, str]] = set()
        self.idle_beside_work = 0
        self.now = 0.0

    @property
    def running(self) -> int:
        return len(self.prefilling) + len(self.ends)

    def report(self) -> Report:
        coming = iter(self.told)
        following = next(coming, None)
        while following is not None or self.running or sum(self.queue.counts().values()):
            if not self.running:
                # Nothing runs: the next thing that happens is an arrival, or the queue's own clock.
                next_at = following.arrival.at if following is not None else self.now + 0.5
                self.now = max(self.now, min(next_at, self.now + 0.5))
                until = self.now
            else:
                until = self.now + self._length()
            while following is not None and following.arrival.at <= until:
                self._arrive(following, following.arrival.at)
                following = next(coming, None)
            if until > self.now:
                self._step(until)
            self._pump(self.now)
        return Report(tuple(self.told), tuple(self.later), self.now, self.idle_beside_work)

    # --- the gateway's side -------------------------------------------------------------------------------------------

    def _arrive(self, told: Told, now: float) -> None:
        a = told.arrival
        ticket = Ticket(
            f"{next(self.numbers):032x}", "d", a.band, a.ttl, self.ids[: a.read], a.max_out, a.tenant, "t", "1", ttft=a.ttft,
            on_predicted_miss=a.on_miss, prefix_hash=a.prefix, prefix_tokens=a.prefix_tokens,
        )  # fmt: skip
        self.owners[ticket.attempt_id] = told
        waiting = Waiting(ticket, Salt("v", a.tenant, shared=bool(a.prefix)), now, now + a.ttl)
        answer = self.queue.push(waiting, now)
        if isinstance(answer, Admitted):
            told.predicted = answer.predicted
            self._pump(now)
        else:
            self._end(told, answer, now)

    def _end(self, told: Told, answer: Demoted | Refused, now: float) -> None:
        told.left = now
        if isinstance(answer, Demoted):
            told.ends.append("demoted")
            again = Told(replace(told.arrival, at=now, band=Band.BATCH, ttft=None))
            self.later.append(again)
            self._arrive(again, now)
        else:
            told.ends.append("expired" if answer.reason == "queue_timeout" else "rejected")

    def _pump(self, now: float) -> None:
        for waiting, answer in self.queue.tick(now):
            if not isinstance(answer, Promoted):
                self._end(self.owners[waiting.ticket.attempt_id], answer, now)
        while (next_ := self.queue.pop(self._room(), lambda w: False, self._fits, now)) is not None:
            waiting, told = next_, self.owners[next_.ticket.attempt_id]
            told.left = now
            known = waiting.ticket.prefix_tokens if set(waiting.shared) & self.computed else 0
            read = told.arrival.read - known
            self.prefilling.append(_Inside(waiting, told, now, read, read))
            self.held += waiting.tokens
        if self._idles(now):
            self.idle_beside_work += 1

    def _room(self) -> Room:
        return Room(self.engine.slots, self.running, self.held / self.engine.pool)

    def _fits(self, waiting: Waiting) -> bool:
        if self.running >= self.engine.slots or len(self.prefilling) >= self.engine.window:
            return False
        return not self.running or self.held + waiting.tokens <= FILL * self.engine.pool

    def _idles(self, now: float) -> bool:
        """Whether the first in order was left outside although it fits: never, if work is conserved."""
        first = self.queue.first_in_order(now)
        return first is not None and self._fits(first)

    # --- the engine's side --------------------------------------------------------------------------------------------

    def _length(self) -> float:
        e = self.engine
        chunk = min(e.chunk, sum(one.unread for one in self.prefilling))
        return e.step + e.per_input * chunk + e.per_output * len(self.ends)

    def _step(self, until: float) -> None:
        began, self.now, self.steps = self.now, until, self.steps + 1
        for one in self.writing.pop(self.steps, ()):
            self._say(one, HEARD_EVERY)
        budget = self.engine.chunk
        # Who came during this step is read in the next.
        for one in [one for one in self.prefilling if one.entered < until]:
            if not budget:
                break
            one.began = began if one.began is None else one.began
            took = min(budget, one.unread)
            one.unread -= took
            budget -= took
            if one.unread:
                break
            self.prefilling.remove(one)
            one.told.first = until
            self.computed.update(one.waiting.shared)
            self.queue.on_tokens(one.waiting, 1, until)
            one.said = 1
            last = self.steps + one.told.arrival.write - 1
            heapq.heappush(self.ends, (last, one.waiting.number, one))
            self._listen(one)
        while self.ends and self.ends[0][0] <= self.steps:
            self._leave(heapq.heappop(self.ends)[2])

    def _listen(self, one: _Inside) -> None:
        if one.told.arrival.write - one.said > HEARD_EVERY:
            self.writing.setdefault(self.steps + HEARD_EVERY, []).append(one)

    def _say(self, one: _Inside, count: int) -> None:
        self.queue.on_tokens(one.waiting, count, self.now)
        one.said += count
        self._listen(one)

    def _leave(self, one: _Inside) -> None:
        told, write = one.told, one.told.arrival.write
        if write > one.said:
            self.queue.on_tokens(one.waiting, write - one.said, self.now)
        told.last = self.now
        told.ends.append("done")
        self.held -= one.waiting.tokens
        assert told.first is not None and one.began is not None  # noqa: S101
        tpot = (self.now - told.first) / (write - 1) if write > 1 else None
        self.queue.on_end(one.waiting, Ending(one.read, write, told.first - one.began, tpot), self.now)
