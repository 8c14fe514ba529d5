"""From a ticket to its frames: waiting, handing to the engine while there is room, one more try after a loss, a record of every end."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from inference.errors import BadUsage
from inference.gateway.dialect import Chunk, EngineLost, request_body, stream
from inference.gateway.engines import Engine
from inference.gateway.queue import Queue, Waiting
from inference.gateway.salt import salt_of
from inference.gateway.spool import Spool
from inference.gateway.supervisor import Supervisor
from inference.usage import Usage, partition
from inference.wire import (
    Aborted,
    AttemptRecord,
    Delta,
    Done,
    EngineState,
    Frame,
    Phases,
    Queued,
    Refused,
    Restart,
    Started,
    Ticket,
)

PREFILLING = 2  # how many may be inside the engine before their first token
WARM = 20_000  # prefixes remembered as computed
REQUEUES = {"queue_full": 5, "preempted": 3, "engine_lost": 2}
FILL = 0.9


@dataclass(eq=False, slots=True)
class Running:
    """A request inside the engine."""

    waiting: Waiting
    rid: str
    started: float
    queued: float
    first: float | None = None
    last: float | None = None
    tokens: int = 0
    text: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)


class Dispatcher:
    """All that runs and waits. One per gateway; every method on the event loop."""

    def __init__(self, supervisor: Supervisor, key: bytes, spool: Spool) -> None:
        self.supervisor, self.key, self.spool = supervisor, key, spool
        self.queue = Queue()
        self.running: dict[str, Running] = {}
        self.counters: Counter[str] = Counter()
        self.draining = False
        self._granted: dict[int, asyncio.Future[bool]] = {}
        self._leading: dict[tuple[str, str], str] = {}
        self._warm: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._cancelled: set[str] = set()
        supervisor.busy = lambda: bool(self.running)

    @property
    def engine(self) -> Engine:
        """The engine as the supervisor knows it."""
        return self.supervisor.engine

    def lost(self) -> None:
        """The engine is gone, and what it had computed with it."""
        self._warm.clear()
        self._leading.clear()

    async def frames(self, ticket: Ticket) -> AsyncIterator[Frame]:
        """The ticket's frames, ending with done, refused or aborted. Closed early, the request is aborted and recorded."""
        refused = self._admit(ticket)
        if refused:
            self.counters[f"refused_{refused.reason}"] += 1
            yield refused
            return
        now = time.monotonic()
        limit = min(ticket.queue_ttl, ticket.deadline) if ticket.deadline else ticket.queue_ttl
        waiting = Waiting(ticket, salt_of(self.key, ticket), now, now + limit)
        # Before it is in the queue: whoever pumps next may give it its place at once.
        granted = self._expect(waiting)
        refused = self.queue.push(waiting)
        if refused:
            self._granted.pop(hash(ticket.attempt_id), None)
            self.counters["refused_queue_full"] += 1
            yield refused
            return
        place, ahead = self.queue.position(waiting)
        try:
            yield Queued(place, ahead)
        except BaseException:  # the caller went away between queueing and waiting
            self._forget(waiting)
            raise
        while True:
            if not await self._turn(waiting, granted):
                reason = (
                    "cancelled"
                    if ticket.attempt_id in self._cancelled
                    else "draining"
                    if self.draining
                    else "queue_timeout"
                )
                self._cancelled.discard(ticket.attempt_id)
                self.counters[f"refused_{reason}"] += 1
                yield Refused(reason, retry_after=10.0 if reason == "draining" else 5.0)
                return
            run = self.running[ticket.attempt_id]
            try:
                yield Started(self.engine.name, self.engine.model, self.engine.revision)
            except BaseException:  # the caller went away before the engine was asked
                self._forget(waiting)
                raise
            again = False
            async for frame in self._served(run):
                if isinstance(frame, Restart):
                    again = True
                yield frame
            if not again:
                return
            waiting.requeues += 1
            self.counters["requeued"] += 1
            granted = self._expect(waiting)
            self.queue.push(waiting, front=True)

    async def _served(self, run: Running) -> AsyncIterator[Frame]:
        """One try inside the engine. Ends with a terminal frame, or with Restart when nothing had been answered."""
        ended = False
        try:
            cause = ""
            try:
                assert self.engine.http is not None  # noqa: S101
                async for chunk in self._chunks(run):
                    if chunk.finish in {"abort", "error"}:
                        cause = chunk.cause
                        break
                    if chunk.text or chunk.tokens:
                        yield Delta(chunk.text, chunk.tokens)
                    if chunk.finish:
                        ended = True
                        self.counters["done"] += 1
                        yield self._done(run, chunk)
                        return
            except (EngineLost, httpx.HTTPError, AssertionError, RuntimeError):
                cause = "engine_lost"
                self.supervisor.doubt()
            except TimeoutError:
                cause = "timeout"
            ended = True
            if run.tokens == 0 and run.waiting.requeues < REQUEUES.get(cause, 0):
                self._release(run)
                if cause == "queue_full":
                    await asyncio.sleep(0.2)
                yield Restart()
                return
            self.counters[f"aborted_{cause}"] += 1
            yield self._aborted(run, cause)
        finally:
            self._release(run)
            if not ended:  # the caller went away
                self.counters["aborted_client_cancelled"] += 1
                self.spool.keep(self._record(run, "client_cancelled"))
                asyncio.get_running_loop().create_task(self._abort(run.rid))

    async def _chunks(self, run: Running) -> AsyncIterator[Chunk]:
        ticket = run.waiting.ticket
        left = ticket.deadline - (time.monotonic() - run.waiting.arrived) if ticket.deadline else None
        async with asyncio.timeout(left):
            async for chunk in stream(self.engine.http, request_body(run.waiting, run.rid)):  # type: ignore[arg-type]
                now = time.monotonic()
                self.supervisor.last_token = now
                run.meta = chunk.meta or run.meta
                if chunk.tokens:
                    if run.first is None:
                        run.first = now
                        self._first_token(run)
                    run.last, run.tokens = now, run.tokens + chunk.tokens
                    run.text.append(chunk.text)
                yield chunk

    def cancel(self, attempt_id: str) -> bool:
        """Abort a request wherever it is."""
        run = self.running.get(attempt_id)
        if run is not None:
            asyncio.get_running_loop().create_task(self._abort(run.rid))
            return True
        for key, future in self._granted.items():
            if key == hash(attempt_id) and not future.done():
                self._cancelled.add(attempt_id)
                future.set_result(False)
                return True
        return False

    def pump(self) -> None:
        """Hand over whatever fits now."""
        while self.engine.state == "ready" and self.engine.http is not None:
            waiting = self.queue.pop(self._fits)
            if waiting is None:
                return
            now = time.monotonic()
            run = Running(waiting, secrets.token_hex(16), now, now - waiting.arrived)
            self.running[waiting.ticket.attempt_id] = run
            for prefix in waiting.shared:
                if prefix not in self._warm:
                    self._leading.setdefault(prefix, run.rid)
            future = self._granted.pop(hash(waiting.ticket.attempt_id), None)
            if future is not None and not future.done():
                future.set_result(True)

    def expire(self) -> None:
        """Tell those whose time is over."""
        for waiting in self.queue.expired(time.monotonic()):
            self._dismiss(waiting)

    def drain(self) -> None:
        """Take nothing new; what waits in the batch band is given back at once."""
        self.draining = True
        for waiting in self.queue.expired(float("inf")):
            self._dismiss(waiting)

    def state(self) -> EngineState:
        """For the header, `/readyz` and whoever must tokenise."""
        e = self.engine
        return EngineState(
            engine=e.name, kind=e.kind, state=e.state, since=e.since, detail=e.detail, model=e.model, revision=e.revision, device=e.device,
            tokenizer=e.tokenizer, template="chatml", context_length=e.context_length, max_input=e.max_input, vocab_size=e.vocab_size,
            slots=e.slots, max_total_tokens=e.pool, fingerprint=e.fingerprint, draining=self.draining, running=len(self.running),
            queues=self.queue.counts(), counters={**self.counters, "restarts": self.supervisor.restarts},
        )  # fmt: skip

    def _admit(self, ticket: Ticket) -> Refused | None:
        e = self.engine
        if self.draining:
            return Refused("draining", retry_after=10.0)
        if e.vocab_size is not None and any(not 0 <= token < e.vocab_size for token in ticket.input_ids):
            return Refused("bad_token", None)  # an id out of range would end the engine for everybody
        limit = min(e.max_input or e.context_length or 0, (e.context_length or 0) - ticket.max_out)
        if e.context_length is not None and len(ticket.input_ids) > limit:
            return Refused("too_long", None)
        return None

    def _fits(self, waiting: Waiting) -> bool:
        e = self.engine
        inside = self.running.values()
        if len(self.running) >= (e.slots or 1) or sum(r.first is None for r in inside) >= PREFILLING:
            return False
        held = sum(r.waiting.tokens for r in inside)
        if self.running and held + waiting.tokens > FILL * (e.pool or 0):
            return False
        return not any(prefix not in self._warm and prefix in self._leading for prefix in waiting.shared)

    async def _turn(self, waiting: Waiting, place: asyncio.Future[bool]) -> bool:
        """Wait for a place. False when the time is over, or the gateway closes."""
        name = hash(waiting.ticket.attempt_id)
        try:
            self.pump()
            return await place
        except asyncio.CancelledError:
            run = self.running.get(waiting.ticket.attempt_id)
            if run is not None:
                self._release(run)
            raise
        finally:
            self._granted.pop(name, None)
            self.queue.remove(waiting)

    def _expect(self, waiting: Waiting) -> asyncio.Future[bool]:
        """The promise of a place: true when it is handed over, false when its time is over."""
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._granted[hash(waiting.ticket.attempt_id)] = place
        return place

    def _forget(self, waiting: Waiting) -> None:
        """Nobody waits for it any more, wherever it is."""
        run = self.running.get(waiting.ticket.attempt_id)
        if run is not None:
            self._release(run)
        self._granted.pop(hash(waiting.ticket.attempt_id), None)
        self.queue.remove(waiting)

    def _dismiss(self, waiting: Waiting) -> None:
        future = self._granted.pop(hash(waiting.ticket.attempt_id), None)
        if future is not None and not future.done():
            future.set_result(False)

    def _first_token(self, run: Running) -> None:
        """Its prefixes are computed now: those who waited for them may follow."""
        for prefix in run.waiting.shared:
            self._leading.pop(prefix, None)
            self._warm[prefix] = None
            self._warm.move_to_end(prefix)
        while len(self._warm) > WARM:
            self._warm.popitem(last=False)
        self.pump()

    def _release(self, run: Running) -> None:
        self.running.pop(run.waiting.ticket.attempt_id, None)
        for prefix, leader in list(self._leading.items()):
            if leader == run.rid:
                del self._leading[prefix]
        self.pump()

    async def _abort(self, rid: str) -> None:
        engine = self.engine
        if engine.http is not None:
            with suppress(httpx.HTTPError, RuntimeError):
                headers = {"Authorization": f"Bearer {engine.admin_key or engine.key}"}
                await engine.http.post("/abort_request", json={"rid": rid}, headers=headers, timeout=5.0)

    def _usage(self, run: Running) -> Usage:
        try:
            found = partition(run.meta)
        except BadUsage:
            self.counters["bad_usage"] += 1
            return Usage()
        if found.output is None or found.output < run.tokens:
            found = Usage(
                uncached=found.uncached, cache_read=found.cache_read, output=run.tokens, cache_write_5m=found.cache_write_5m,
                cache_write_1h=found.cache_write_1h,
            )  # fmt: skip
        self.counters["prompt_tokens"] += found.input_total or 0
        self.counters["cached_tokens"] += found.cache_read or 0
        self.counters["output_tokens"] += found.output or 0
        return found

    def _phases(self, run: Running) -> Phases:
        meta = run.meta
        entry, filled, ended = (
            meta.get(n) for n in ("forward_entry_time", "prefill_finished_time", "request_finished_ts")
        )
        return Phases(
            gateway_queue=run.queued,
            engine_queue=meta.get("queue_time"),
            prefill=max(0.0, filled - entry) if filled and entry else None,
            decode=max(0.0, ended - filled)
            if ended and filled
            else (run.last - run.first if run.last and run.first else None),
        )

    def _times(self, run: Running) -> tuple[float | None, float | None]:
        """Time to the first token on this clock from the hand-over, and seconds per token after it."""
        ttft = run.first - run.started if run.first is not None else None
        per = (
            (run.last - run.first) / (run.tokens - 1)
            if run.first is not None and run.last is not None and run.tokens > 1
            else None
        )
        return ttft, per

    def _done(self, run: Running, chunk: Chunk) -> Done:
        ttft, tpot = self._times(run)
        finish: Any = chunk.finish
        return Done(
            finish, "".join(run.text), self._usage(run), self._phases(run), ttft, tpot, run.waiting.requeues,
            str(run.meta.get("weight_version") or self.engine.revision), self.engine.fingerprint, run.waiting.salt.id,
        )  # fmt: skip

    def _aborted(self, run: Running, cause: str) -> Aborted:
        ttft, tpot = self._times(run)
        return Aborted(
            cause, cause in {"engine_lost", "preempted", "queue_full", "timeout"}, self._usage(run), self._phases(run), ttft, tpot,
            run.waiting.requeues, self.engine.revision, self.engine.fingerprint, run.waiting.salt.id,
        )  # fmt: skip

    def _record(self, run: Running, cause: str) -> AttemptRecord:
        ttft, tpot = self._times(run)
        ticket = run.waiting.ticket
        return AttemptRecord(
            ticket.attempt_id, ticket.decision_id, ticket.tenant, ticket.band, time.time(), "abort", cause, self._usage(run), self._phases(run),
            ttft, tpot, run.waiting.requeues, self.engine.revision, self.engine.fingerprint, run.waiting.salt.id,
        )  # fmt: skip
