"""Who waits and who goes next, by the service policy; pure: no clock, no input or output, no chance."""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect_left, insort
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from inference.gateway.cost import CostModel, Ending, Rate, rank
from inference.gateway.counters import OUTPUT_WEIGHT, Counters
from inference.gateway.policy import Policy
from inference.gateway.salt import Salt
from inference.slo import CLASSES, Band
from inference.wire import Demoted, Refused, Ticket

HOLD_SLOTS, HOLD_POOL = 0.75, 0.8  # batch enters only while less of the slots and of the pool is taken
AGED = 3.0  # times its promise, after which standard work joins the front band
SLACK = 2.0  # times its run, below which batch work joins the standard band
TARGET, JUDGED = 0.95, 20  # of the latest promises, at least so many: below it, batch is held back altogether
OPTIMISTIC, USUAL = 0.9, 0.5  # of the rates that were seen: for refusing somebody, and for telling
SURE = 0.8  # of what an optimist predicts: so much must already be too long before somebody is turned away
REMEMBERED = 20_000  # prefixes that were handed over
ERRORS = 500
# Seconds after which asking again may help, by the reason of a refusal.
COME_BACK = {
    "draining": 10.0,
    "engine_down": 30.0,
    "queue_full": 10.0,
    "queue_timeout": 5.0,
    "cancelled": 5.0,
}


@dataclass(eq=False, slots=True)
class Waiting:
    """A ticket with its salt and its times (seconds of the caller's clock); below the line, what the queue keeps with it."""

    ticket: Ticket
    salt: Salt
    arrived: float
    expires: float
    number: int = 0  # given by the queue: who came before whom
    requeues: int = 0
    stopped: str = ""  # why it shall not be served any more
    # ---
    lane: Band = Band.BATCH  # its band, or a higher one after a long wait
    due: float = 0.0
    uncached: int = 0  # tokens that probably have to be read
    prefill: float = 0.0  # seconds in which the engine reads it
    run: float = 0.0  # and answers it, with an answer that three in four do not exceed
    work: float = 0.0  # and answers it, with an answer of the mean length
    predicted: float | None = None  # seconds from arrival to its first token, as thought at arrival
    heard: int = 0  # tokens of the present try

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

    @property
    def tenant(self) -> str:
        return self.ticket.tenant or ""

    @property
    def key(self) -> str:
        """Whose answers its own will be like."""
        return self.ticket.key or str(self.ticket.band)

    @property
    def place(self) -> tuple[float, int]:
        """Before whom of its tenant it goes."""
        return self.due, self.number


@dataclass(frozen=True, slots=True)
class Room:
    """The pool at one turn of the queue."""

    slots: int
    running: int
    used: float  # share of its tokens that is promised to those who run
    engines: int = 1


@dataclass(frozen=True, slots=True)
class Admitted:
    """It waits; `predicted` seconds until its first token, where something is known."""

    predicted: float | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """It waited so long that it now goes with this band."""

    lane: Band


Alarm = Literal["expire", "miss", "promote"]


class Queue:
    """Bounded per band.

    Order: band, then the tenant that was served least, then what is due first; among what is due at almost the same time,
    the prefix that went last. Whoever waits for somebody else's prefix lets others pass. Whoever is first and has no room does
    not: small requests would take every place that becomes free, and a large one would never go. So work is conserved in this
    sense: no room stays free that the first in order could use.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.cost, self.counters, self.rate = CostModel(), Counters(), Rate(self.policy.span)
        self.counts_of: Counter[str] = Counter()  # what became of those who waited
        self._lanes: dict[Band, dict[str, list[Waiting]]] = {band: {} for band in Band}
        self._waiting: dict[int, Waiting] = {}
        self._depth: Counter[Band] = Counter()
        self._inside: dict[int, Waiting] = {}
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._numbers = itertools.count(1)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._last: tuple[str, str] | None = None
        self._room: Room | None = None
        self._kept: deque[tuple[float, bool]] = deque()
        self._errors: deque[tuple[float, float]] = deque(maxlen=ERRORS)  # predicted, real

    # --- in and out ---------------------------------------------------------------------------------------------------

    def push(self, waiting: Waiting, now: float) -> Admitted | Demoted | Refused:
        """Take it in, or say why not. Nobody is turned away who could still make it if all went well from now on."""
        ticket = waiting.ticket
        self._estimate(waiting)
        waiting.number = next(self._numbers)
        if self._depth[ticket.band] >= CLASSES[ticket.band].queue_bound:
            return self._missed(waiting, "queue_full", COME_BACK["queue_full"])
        if self.policy.admission and ticket.ttft is not None and ticket.on_predicted_miss != "serve_late":
            best = self.predict(waiting, OPTIMISTIC)
            if best is not None and best > ticket.ttft:
                return self._missed(waiting, "predicted_miss", max(1.0, best - ticket.ttft))
        waiting.predicted = self.predict(waiting, USUAL)
        self._insert(waiting, now)
        return Admitted(waiting.predicted)

    def push_back(self, waiting: Waiting, now: float) -> None:
        """Take it in again, whatever the bound, to the place it had."""
        waiting.heard = 0
        self._insert(waiting, now)

    def pop(
        self, room: Room, follows: Callable[[Waiting], bool], fits: Callable[[Waiting], bool], now: float
    ) -> Waiting | None:
        """The next that may go; None when nobody may."""
        self._room = room
        if not self._waiting:
            self.rate.idle(now)
            return None
        for lane, tenants in self._lanes.items():
            if not tenants:
                continue
            if lane == Band.BATCH and self.holds_back(room, now):
                return None
            for tenant in self._turns(lane):
                for waiting in self._order(tenants[tenant]):
                    if follows(waiting):
                        continue
                    if not fits(waiting):
                        return None
                    self._enter(waiting)
                    return waiting
        return None

    def remove(self, waiting: Waiting) -> bool:
        """Take it out; False when it was not there."""
        if self._waiting.pop(waiting.number, None) is None:
            return False
        self._depth[waiting.ticket.band] -= 1
        self._unlist(waiting)
        return True

    def take(self, which: Callable[[Waiting], bool]) -> list[Waiting]:
        """All that are so, taken out, in the order of their arrival."""
        found = [waiting for waiting in self._waiting.values() if which(waiting)]
        for waiting in found:
            self.remove(waiting)
        return sorted(found, key=lambda waiting: waiting.number)

    # --- what is heard ------------------------------------------------------------------------------------------------

    def on_tokens(self, waiting: Waiting, count: int, now: float) -> None:
        """The engine wrote so many tokens of it."""
        if waiting.number not in self._inside:
            return
        if not waiting.heard:
            taken = now - waiting.arrived
            if waiting.ticket.ttft is not None:
                self._promise(now, kept=taken <= waiting.ticket.ttft)
            if waiting.predicted is not None:
                self._errors.append((waiting.predicted, taken))
        waiting.heard += count
        self._charge(waiting, OUTPUT_WEIGHT * count)

    def on_end(self, waiting: Waiting, ending: Ending, now: float) -> None:
        """It left the engine, and this is what it cost. A try that nothing is known of and nothing came of costs nothing."""
        if self._inside.pop(waiting.number, None) is None:
            return
        read = ending.uncached if ending.uncached is not None else waiting.uncached if waiting.heard else 0
        unheard = max(0, (ending.output or 0) - waiting.heard)
        self._charge(waiting, read - waiting.uncached + OUTPUT_WEIGHT * unheard)
        if waiting.heard:
            self.cost.learn(waiting.key, ending)
            self.rate.did(self.cost.work(waiting.key, read, waiting.heard + unheard), now)

    def tick(self, now: float) -> list[tuple[Waiting, Demoted | Refused | Promoted]]:
        """Whose time has come: too late for its promise, too long in the queue, or long enough to go with a higher band."""
        told: list[tuple[Waiting, Demoted | Refused | Promoted]] = []
        while self._alarms and self._alarms[0][0] <= now:
            _at, number, alarm = heapq.heappop(self._alarms)
            waiting = self._waiting.get(number)
            if waiting is None:
                continue
            if alarm == "promote":
                self._promote(waiting, told)
            elif alarm == "expire":
                self.remove(waiting)
                self._promise_lost(waiting, now)
                self.counts_of["expired"] += 1
                told.append((waiting, Refused("queue_timeout", COME_BACK["queue_timeout"])))
            elif waiting.ticket.on_predicted_miss == "serve_late" or not self.policy.admission:
                self.counts_of["late"] += 1
            else:
                self.remove(waiting)
                self._promise_lost(waiting, now)
                answer = self._missed(waiting, "predicted_miss", self._usual_wait(waiting))
                told.append((waiting, answer))
        return told

    # --- what is told -------------------------------------------------------------------------------------------------

    def predict(self, waiting: Waiting, share: float) -> float | None:
        """Seconds until its first token, if work goes on at the rate that `share` of the spans did not exceed.

        Two things take time: the prompts of those ahead are read one after the other, and when no slot is free as many must end
        first; the optimist takes the next to end this moment. The longer of the two counts. None while nothing has been measured.
        """
        room = self._room
        if room is None or not waiting.work:
            return None
        hopeful = share >= OPTIMISTIC
        count, reading, work = self._ahead(waiting)
        if not hopeful:
            # Of those being read now, half is done on the average.
            reading += 0.5 * sum(other.prefill for other in self._inside.values() if not other.heard)
        wait = reading / room.engines
        over = count - (room.slots - room.running) + (not hopeful)
        rate = self.rate.at(share)
        if over > 0 and rate:
            wait = max(wait, over * (work + waiting.work) / (count + 1) / rate)
        return (wait + waiting.prefill) * (SURE if hopeful else 1.0)

    def holds_back(self, room: Room, now: float) -> bool:
        """Whether batch stays outside for the sake of those who wait in person."""
        if not self.policy.hold_back:
            return False
        taken = room.running >= HOLD_SLOTS * room.slots or room.used >= HOLD_POOL
        return taken or bool(self._lanes[Band.INTERACTIVE]) or self._pressed(now)

    def first_in_order(self, now: float) -> Waiting | None:
        """Who would go next if there were room, as far as batch is let in."""
        for lane, tenants in self._lanes.items():
            if tenants and not (lane == Band.BATCH and self._room and self.holds_back(self._room, now)):
                return next(self._order(tenants[self._turns(lane)[0]]))
        return None

    def position(self, waiting: Waiting) -> tuple[int, int]:
        """Its place in its band from 1, and how many wait before it, if all tenants had been served alike."""
        lane = [other for others in self._lanes[waiting.lane].values() for other in others]
        place = 1 + sum(other.place < waiting.place for other in lane)
        return place, place - 1 + sum(1 for _ in self._above(waiting.lane))

    def counts(self) -> dict[str, int]:
        """How many wait in each band."""
        return {str(band): self._depth[band] for band in Band}

    def snapshot(self) -> dict[str, float]:
        """What became of whom, what waiting is predicted and how well, and how far tenants are apart."""
        said: dict[str, float] = dict(self.counts_of)
        for band, tenants in self._lanes.items():
            said[f"spread_{band}"] = self.counters.spread(band, tenants)
            waits = [w.predicted for others in tenants.values() for w in others if w.predicted is not None]
            said[f"predicted_{band}"] = max(waits, default=0.0)
        off = [abs(predicted - real) for predicted, real in self._errors]
        if off:
            said["prediction_error_median"], said["prediction_error_tail"] = rank(off, 0.5), rank(off, 0.95)
        return said | {f"cost_{name}": value for name, value in self.cost.coefficients().items()}

    # --- parts --------------------------------------------------------------------------------------------------------

    def _estimate(self, waiting: Waiting) -> None:
        """What it will cost and when it is due. The band is the ticket's; nothing here asks what a tenant wishes."""
        ticket, key = waiting.ticket, waiting.key
        waiting.uncached = self._unread(waiting)
        waiting.prefill = self.cost.prefill(key, waiting.uncached)
        waiting.run = self.cost.work(key, waiting.uncached, self.cost.expected_out(key, ticket.max_out))
        waiting.work = self.cost.work(key, waiting.uncached, self.cost.mean_out(key, ticket.max_out))
        waiting.lane = ticket.band if self.policy.bands else Band.INTERACTIVE
        if not self.policy.due:
            waiting.due = 0.0
        elif ticket.ttft is not None:
            waiting.due = waiting.arrived + ticket.ttft
        else:
            waiting.due = waiting.expires - waiting.run

    def _unread(self, waiting: Waiting) -> int:
        ticket = waiting.ticket
        lengths = {ticket.prefix_hash: ticket.prefix_tokens, ticket.share_hash: ticket.share_tokens}
        known = max((lengths[prefix[1]] for prefix in waiting.shared if prefix in self._known), default=0)
        return len(ticket.input_ids) - known

    def _insert(self, waiting: Waiting, now: float) -> None:
        self._waiting[waiting.number] = waiting
        self._depth[waiting.ticket.band] += 1
        self._enlist(waiting)
        self._alarm(waiting.expires, waiting, "expire")
        ticket = waiting.ticket
        if ticket.ttft is not None:
            # From a hair after the last moment on: at that moment it can still make it.
            last = waiting.arrived + ticket.ttft - SURE * waiting.prefill
            self._alarm(max(last, now) + 1e-6, waiting, "miss")
        if not self.policy.bands:
            return
        if waiting.lane == Band.STANDARD:
            patience = AGED * (ticket.ttft or (CLASSES[Band.STANDARD].ttft_ms or 0) / 1000)
            self._alarm(waiting.arrived + patience, waiting, "promote")
        elif waiting.lane == Band.BATCH:
            self._alarm(waiting.expires - SLACK * waiting.run, waiting, "promote")

    def _alarm(self, at: float, waiting: Waiting, alarm: Alarm) -> None:
        heapq.heappush(self._alarms, (at, waiting.number, alarm))

    def _enlist(self, waiting: Waiting) -> None:
        tenants = self._lanes[waiting.lane]
        name = waiting.tenant if self.policy.fair else ""
        if name not in tenants:
            self.counters.join(waiting.lane, name, tenants)
            tenants[name] = []
        insort(tenants[name], waiting, key=lambda other: other.place)

    def _unlist(self, waiting: Waiting) -> None:
        tenants = self._lanes[waiting.lane]
        name = waiting.tenant if self.policy.fair else ""
        mine = tenants[name]
        del mine[bisect_left(mine, waiting.place, key=lambda other: other.place)]
        if not mine:
            del tenants[name]
            self.counters.leave(waiting.lane, name)

    def _turns(self, lane: Band) -> list[str]:
        """The tenants who wait in it, the one that was served least first."""
        return sorted(self._lanes[lane], key=lambda name: (self.counters.had(lane, name), name))

    def _order(self, mine: list[Waiting]) -> Iterator[Waiting]:
        """By what is due; what shares the last prefix and is due almost as soon goes first."""
        first = None
        if self._last is not None and self.policy.due:
            soon = itertools.takewhile(lambda w: w.due <= mine[0].due + self.policy.near, mine)
            first = next((w for w in soon if self._last in w.shared[:1]), None)
        if first is not None:
            yield first
        yield from (w for w in mine if w is not first)

    def _enter(self, waiting: Waiting) -> None:
        self.remove(waiting)
        self._inside[waiting.number] = waiting
        waiting.heard, waiting.uncached = 0, self._unread(waiting)
        self._charge(waiting, waiting.uncached)
        self._last = next(iter(waiting.shared), None)
        for prefix in waiting.shared:
            self._known[prefix] = None
            self._known.move_to_end(prefix)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def forget(self) -> None:
        """The engines are gone, and all that they had computed."""
        self._known.clear()

    def _charge(self, waiting: Waiting, tokens: float) -> None:
        name = waiting.tenant if self.policy.fair else ""
        self.counters.charge(waiting.lane, name, tokens, waiting.ticket.share)

    def _missed(self, waiting: Waiting, reason: str, retry_after: float) -> Demoted | Refused:
        """What its task wants when a promise cannot be kept. A full queue refuses also those who would wait."""
        if waiting.ticket.on_predicted_miss == "demote" and waiting.ticket.band != Band.BATCH:
            self.counts_of["demoted"] += 1
            return Demoted(reason)
        self.counts_of[f"shed_{reason}"] += 1
        return Refused(reason, retry_after)

    def _promote(self, waiting: Waiting, told: list[tuple[Waiting, Demoted | Refused | Promoted]]) -> None:
        """One band up, once for standard work and once for batch."""
        lane = Band.INTERACTIVE if waiting.ticket.band == Band.STANDARD else Band.STANDARD
        if waiting.lane == lane:
            return
        self._unlist(waiting)
        waiting.lane = lane
        self._enlist(waiting)
        self.counts_of["promoted"] += 1
        told.append((waiting, Promoted(lane)))

    def _above(self, lane: Band) -> Iterator[Waiting]:
        for band in itertools.takewhile(lambda b: b != lane, Band):
            for others in self._lanes[band].values():
                yield from others

    def _ahead(self, waiting: Waiting) -> tuple[float, float, float]:
        """How many go before it, the seconds to read them and to read and answer them: higher bands, its own tenant's that are due sooner,
        and of each other tenant at most as much work as its own has with it."""
        count = reading = work = 0.0
        for other in self._above(waiting.lane):
            count, reading, work = count + 1, reading + other.prefill, work + other.work
        name = waiting.tenant if self.policy.fair else ""
        tenants = self._lanes[waiting.lane]
        own = [other for other in tenants.get(name, ()) if other.place < waiting.place]
        share = waiting.work + sum(other.work for other in own)
        for tenant, others in tenants.items():
            theirs = own if tenant == name else others
            total = sum(other.work for other in theirs)
            part = 1.0 if tenant == name or not total else min(1.0, share / total)
            count += part * len(theirs)
            reading += part * sum(other.prefill for other in theirs)
            work += part * total
        return count, reading, work

    def _usual_wait(self, waiting: Waiting) -> float:
        return max(1.0, self.predict(waiting, USUAL) or 1.0)

    def _promise(self, now: float, *, kept: bool) -> None:
        self._kept.append((now, kept))

    def _promise_lost(self, waiting: Waiting, now: float) -> None:
        if waiting.ticket.ttft is not None:
            self._promise(now, kept=False)

    def _pressed(self, now: float) -> bool:
        """Whether too many of the latest promises were broken."""
        while self._kept and self._kept[0][0] < now - self.policy.memory:
            self._kept.popleft()
        kept = sum(kept for _at, kept in self._kept)
        return len(self._kept) >= JUDGED and kept < TARGET * len(self._kept)
