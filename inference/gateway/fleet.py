"""The engines of the pool: what runs on each, what each has computed, and which of them a waiting request would go to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.gateway.config import Config
from inference.gateway.engines import Engine, State
from inference.gateway.placement import OUTPUT_COST, Key, Load, choose
from inference.gateway.prefixes import Prefixes
from inference.gateway.queue import Waiting
from inference.gateway.supervisor import Supervisor
from inference.reasons import EngineNote
from inference.slo import Band
from inference.wire import EngineView

if TYPE_CHECKING:
    from inference.gateway.running import Running

PREFILLING = 2  # how many may be inside an engine before their first token
FILL = 0.9  # of an engine's pool: it does not preempt when the pool is full, it blocks
BEST_FIRST: tuple[State, ...] = ("ready", "loading", "installing", "restarting", "down")


@dataclass(eq=False, slots=True)
class Replica:
    """One engine of the pool with all that is inside it."""

    supervisor: Supervisor
    prefixes: Prefixes = field(default_factory=Prefixes)
    running: dict[str, Running] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        """As its supervisor knows it."""
        return self.supervisor.engine

    @property
    def ready(self) -> bool:
        return self.engine.state == "ready"

    @property
    def slots(self) -> int:
        return self.engine.slots or 1

    @property
    def servers(self) -> int:
        """How many compute here: one, or those behind a router."""
        return len(self.engine.workers) or 1

    def bears(self, given: int, whole: int) -> bool:
        """Whether it could take a request of so many tokens, `whole` with its answer, if nothing else ran."""
        e = self.engine
        pool = None if e.pool is None else e.pool // self.servers
        return (e.max_input is None or given <= e.max_input) and (pool is None or whole <= FILL * pool)

    def full(self, waiting: Waiting) -> bool:
        """Whether no slot is free, or no room in its pool: this lasts until somebody ends."""
        if len(self.running) >= self.slots:
            return True
        held = sum(run.waiting.tokens for run in self.running.values())
        return bool(self.running) and held + waiting.tokens > FILL * (self.engine.pool or 0)

    def has_room(self, waiting: Waiting) -> bool:
        """Whether it may enter now. Beside a free place, few enough must be before their first token: this lasts a moment."""
        silent = sum(run.first is None for run in self.running.values())
        return not self.full(waiting) and silent < PREFILLING * self.servers

    def cost(self, waiting: Waiting) -> float:
        """What it would have to compute for the request, in tokens read."""
        known = self.prefixes.known(waiting)
        return len(waiting.ticket.input_ids) - known + OUTPUT_COST * waiting.ticket.max_out

    def load(self, waiting: Waiting) -> Load:
        """As the placement sees it."""
        work = sum(run.ahead for run in self.running.values())
        return Load(self.engine.name, work, self.slots, self.full(waiting))

    def view(self) -> EngineView:
        """For people."""
        e = self.engine
        return EngineView(
            engine=e.name, state=e.state, since=e.since, detail=e.detail, model=e.model, revision=e.revision, device=e.device,
            slots=e.slots, max_total_tokens=e.pool, running=len(self.running), restarts=self.supervisor.restarts,
            fingerprint=e.fingerprint,
        )  # fmt: skip


class Fleet:
    """All engines of the pool, in the order of the configuration. At least one."""

    def __init__(self, supervisors: Sequence[Supervisor]) -> None:
        self._replicas = tuple(Replica(supervisor) for supervisor in supervisors)
        for supervisor in supervisors:
            supervisor.agrees = self.agrees

    @classmethod
    def of(cls, config: Config) -> Fleet:
        """One supervisor for each engine of the configuration."""
        return cls([Supervisor(config, place=place) for place in config.places])

    def __getitem__(self, number: int) -> Replica:
        return self._replicas[number]

    def __len__(self) -> int:
        return len(self._replicas)

    def __iter__(self) -> Iterator[Replica]:
        return iter(self._replicas)

    @property
    def ready(self) -> list[Replica]:
        """Those that take work."""
        return [replica for replica in self if replica.ready]

    @property
    def expected(self) -> list[Replica]:
        """Those that take work, or are expected to soon."""
        return [replica for replica in self if replica.engine.state != "down"]

    @property
    def down(self) -> bool:
        """Whether none of them is expected to take work soon."""
        return not self.expected

    @property
    def best(self) -> Replica:
        """The one that is furthest: the pool can do what its best engine can do."""
        return min(self, key=lambda replica: BEST_FIRST.index(replica.engine.state))

    @property
    def worst(self) -> Replica:
        """The one that is least far."""
        return max(self, key=lambda replica: BEST_FIRST.index(replica.engine.state))

    def agrees(self, engine: Engine) -> str:
        """Why an engine that has proved itself does not belong to those that are ready, or an empty string.

        Two answers to one question must not come from two models, and a request that was checked for one engine must be
        within the bounds of the other.
        """
        for replica in self.ready:
            other = replica.engine
            if other is engine:
                continue
            for name in ("revision", "tokenizer", "vocab_size", "context_length"):
                found, wanted = getattr(engine, name), getattr(other, name)
                if found != wanted:
                    return EngineNote.DISAGREES.say(
                        name=name, found=repr(found), wanted=repr(wanted), other=other.name
                    )
        return ""

    async def keep(self) -> None:
        """Each engine's life, until all are stopped; an error of one supervisor is an error of the gateway."""
        async with asyncio.TaskGroup() as lives:
            for replica in self:
                lives.create_task(replica.supervisor.keep(), name=f"supervisor of {replica.engine.name}")

    async def stop(self) -> None:
        """End all of them at once."""
        await asyncio.gather(*(replica.supervisor.stop() for replica in self))


class Choice:
    """One look at the pool for one turn of the queue: where each request would go, and whether it may go now."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet, self._ready = fleet, fleet.ready
        self._waited_for: set[Replica] = set()  # engines that somebody earlier in the order waits for

    def of(self, waiting: Waiting) -> Replica | None:
        """Its engine; None while no engine that is ready could bear it."""
        given = len(waiting.ticket.input_ids)
        able = [replica for replica in self._ready if replica.bears(given, waiting.tokens)]
        if len(able) < 2:
            return able[0] if able else None
        loads = [replica.load(waiting) for replica in able]
        own = min(replica.cost(waiting) for replica in able)
        name = choose(prefix_key(waiting), loads, own=own, patient=waiting.ticket.band != Band.INTERACTIVE)
        return next(replica for replica in able if replica.engine.name == name)

    def follows(self, waiting: Waiting) -> bool:
        """Whether others may pass it: its prefix is just being computed on its engine, or its engine is full and another is not."""
        replica = self.of(waiting)
        if replica is None:
            given = len(waiting.ticket.input_ids)
            return any(other.bears(given, waiting.tokens) for other in self._fleet.expected)
        if replica in self._waited_for or replica.prefixes.follows(waiting):
            return True
        if not replica.has_room(waiting) and set(self._ready) - self._waited_for - {replica}:
            self._waited_for.add(replica)
            return True
        return False

    def fits(self, waiting: Waiting) -> bool:
        """Whether there is room for it; one that no engine could bear is let out, to be told."""
        replica = self.of(waiting)
        return replica is None or replica.has_room(waiting)


def prefix_key(waiting: Waiting) -> Key | None:
    """Whose computed tokens it can use: the longest prefix that it shares, in its namespace. None when it shares nothing."""
    shared = waiting.shared
    return shared[-1] if shared else None
