"""From a ticket to its frames: waiting, handing to the engine while there is room, one more try after a loss, a record of every end."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, Literal

import httpx

from inference.gateway.dialect import Chunk, EngineLost, request_body, stream
from inference.gateway.engines import Engine
from inference.gateway.prefixes import Prefixes
from inference.gateway.queue import Queue, Waiting
from inference.gateway.running import Account, Running
from inference.gateway.salt import salt_of
from inference.gateway.spool import Spool
from inference.gateway.supervisor import Supervisor
from inference.slo import Band
from inference.wire import (
    Aborted,
    AttemptRecord,
    Delta,
    Done,
    EngineState,
    Frame,
    Queued,
    Refused,
    Restart,
    Started,
    Ticket,
)

PREFILLING = 2  # how many may be inside the engine before their first token
REQUEUES = {"queue_full": 5, "preempted": 3, "engine_lost": 2}
RETRYABLE = {*REQUEUES, "timeout", "draining"}
COME_BACK = {"draining": 10.0, "engine_down": 30.0, "queue_timeout": 5.0, "cancelled": 5.0}
FILL = 0.9  # of the engine's pool: it does not preempt when the pool is full, it blocks
Place = asyncio.Future[Running | Refused]


class Dispatcher:
    """All that runs and waits. One per gateway; every method on the event loop."""

    def __init__(
        self,
        supervisor: Supervisor,
        key: bytes,
        spool: Spool,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.supervisor, self.key, self.spool, self.clock, self.sleep = supervisor, key, spool, clock, sleep
        self.queue, self.prefixes = Queue(), Prefixes()
        self.asked: dict[str, Waiting] = {}  # every attempt whose caller listens
        self.running: dict[str, Running] = {}  # those of them that are inside the engine
        self.counters: Counter[str] = Counter()
        self.draining = False
        self._places: dict[str, Place] = {}  # promised to those who wait
        self._errands: set[asyncio.Task[None]] = set()
        supervisor.busy = lambda: bool(self.running)

    @property
    def engine(self) -> Engine:
        """The engine as the supervisor knows it."""
        return self.supervisor.engine

    # --- what a caller asks -------------------------------------------------------------------------------------------

    async def frames(self, ticket: Ticket) -> AsyncGenerator[Frame, None]:
        """The ticket's frames, ending with done, refused or aborted.

        A caller who does not come back for more after the last frame has not heard it: closed anywhere before its end, the
        request is aborted and recorded.
        """
        refused = self._refusal(ticket)
        if refused is not None:
            yield self._counted(refused)
            return
        now = self.clock()
        limit = min(ticket.queue_ttl, ticket.deadline) if ticket.deadline else ticket.queue_ttl
        waiting = Waiting(ticket, salt_of(self.key, ticket), now, now + limit)
        self.asked[ticket.attempt_id] = waiting
        try:
            async with aclosing(self._life(waiting)) as life:
                async for frame in life:
                    yield frame
        finally:
            del self.asked[ticket.attempt_id]
            self._forget(waiting)

    def cancel(self, attempt_id: str) -> bool:
        """Abort a request wherever it is."""
        waiting = self.asked.get(attempt_id)
        if waiting is None:
            return False
        self._stop(waiting, "cancelled")
        return True

    def drain(self) -> None:
        """Take nothing new. Online requests may end; batch is given back at once, for its work is kept elsewhere."""
        self.draining = True
        for waiting in list(self.asked.values()):
            if waiting.ticket.band == Band.BATCH:
                self._stop(waiting, "draining")

    def give_up(self) -> None:
        """The time to drain is over: whatever is left ends now, and its caller is told."""
        for waiting in list(self.asked.values()):
            self._stop(waiting, "draining")

    def state(self) -> EngineState:
        """For the header, `/readyz` and whoever must tokenise."""
        e = self.engine
        return EngineState(
            engine=e.name, kind=e.kind, state=e.state, since=e.since, detail=e.detail, model=e.model, revision=e.revision, device=e.device,
            tokenizer=e.tokenizer, template="chatml", context_length=e.context_length, max_input=e.max_input, vocab_size=e.vocab_size,
            slots=e.slots, max_total_tokens=e.pool, fingerprint=e.fingerprint, draining=self.draining, running=len(self.running),
            queues=self.queue.counts(), counters={**self.counters, "restarts": self.supervisor.restarts},
        )  # fmt: skip

    # --- what the clock and the supervisor say ------------------------------------------------------------------------

    def pump(self) -> None:
        """Hand over whatever fits now."""
        while self.engine.state == "ready":
            waiting = self.queue.pop(self.prefixes.follows, self._fits)
            if waiting is None:
                return
            # Asked again, for it may have come before the engine was known.
            misfit = self._misfit(waiting.ticket)
            if misfit is not None:
                self._answer(waiting, misfit)
                continue
            now = self.clock()
            run = Running(waiting, secrets.token_hex(16), now, now - waiting.arrived)
            self.running[waiting.ticket.attempt_id] = run
            self.prefixes.lead(waiting, run.rid)
            self._answer(waiting, run)

    def expire(self) -> None:
        """Tell those whose time is over."""
        now = self.clock()
        for waiting in self.queue.take(lambda w: w.expires <= now):
            self._answer(waiting, _given_back("queue_timeout"))

    def lost(self) -> None:
        """The engine is gone, and what it had computed with it. While it is down nobody is kept waiting for it."""
        self.prefixes.forget()
        if self.engine.state == "down":
            for waiting in self.queue.take(lambda w: True):
                self._answer(waiting, _given_back("engine_down"))

    # --- one request --------------------------------------------------------------------------------------------------

    async def _life(self, waiting: Waiting) -> AsyncGenerator[Frame, None]:
        """Waits for its turn, is served, and waits again if the engine was lost before it had answered."""
        place = self._promise(
            waiting
        )  # before it is in the queue: whoever pumps next may take its turn at once
        full = self.queue.push(waiting)
        if full is not None:
            yield self._counted(full)
            return
        yield Queued(*self.queue.position(waiting))
        while True:
            self.pump()
            turn = await place
            if isinstance(turn, Refused):
                yield self._counted(turn)
                return
            yield Started(self.engine.name, self.engine.model, self.engine.revision)
            if waiting.stopped:  # between its turn and the engine
                yield self._counted(_given_back(waiting.stopped))
                return
            again = False
            async with aclosing(self._served(turn)) as served:
                async for frame in served:
                    again = isinstance(frame, Restart)
                    yield frame
            if not again:
                return
            no_more = self._no_more(waiting)
            if no_more is not None:
                yield self._counted(no_more)
                return
            waiting.requeues += 1
            self.counters["requeued"] += 1
            place = self._promise(waiting)
            self.queue.push_back(waiting)

    async def _served(self, run: Running) -> AsyncGenerator[Frame, None]:
        """One try inside the engine. Ends with a terminal frame, or with Restart when nothing had been answered."""
        finish: Literal["stop", "length", "abort", "error"] = "abort"
        cause, heard = "client_cancelled", False
        account: Account | None = None
        try:
            last: Chunk | None = None
            async with aclosing(self._chunks(run)) as chunks:
                async for chunk in chunks:
                    last = chunk
                    if chunk.finish not in {"abort", "error"} and (chunk.text or chunk.tokens):
                        yield Delta(chunk.text, chunk.tokens)
            assert last is not None and last.finish  # noqa: S101  (the chunks end with one, or raise)
            self._release(run)
            if last.finish in {"stop", "length"}:
                finish = "length" if last.finish == "length" else "stop"
                account = self._account(run)
                self.counters["done"] += 1
                yield Done(finish, "".join(run.text), *account)
                heard = True
                return
            cause = run.waiting.stopped or last.cause
            if run.tokens == 0 and run.waiting.requeues < REQUEUES.get(cause, 0):
                heard = True
                if cause == "queue_full":
                    await self.sleep(0.2)
                yield Restart()
                return
            account = self._account(run)
            self.counters[f"aborted_{cause}"] += 1
            yield Aborted(cause, cause in RETRYABLE, *account)
            heard = True
        finally:
            self._release(run)
            if not heard:
                if account is None:
                    self._run_errand(self._abort(run.rid))
                    self.counters["aborted_client_cancelled"] += 1
                    account = self._account(run)
                self._keep(run, finish, cause, account)

    async def _chunks(self, run: Running) -> AsyncGenerator[Chunk, None]:
        """The engine's chunks; what can go wrong with it comes as a last one."""
        ticket, http = run.waiting.ticket, self.engine.http
        if http is None:
            yield Chunk("", 0, {}, "abort", "engine_lost")
            return
        try:
            async with aclosing(stream(http, request_body(run.waiting, run.rid))) as chunks:
                while True:
                    # Around each step, not around all: a timeout belongs to the task that opened it, and each step has its own.
                    used = self.clock() - run.waiting.arrived
                    async with asyncio.timeout(None if ticket.deadline is None else ticket.deadline - used):
                        chunk = await anext(chunks)
                    self.supervisor.heard()
                    was_silent = run.first is None
                    run.hear(chunk, self.clock())
                    if was_silent and run.first is not None:
                        self.prefixes.computed(run.waiting)
                        self.pump()
                    if run.waiting.stopped and not chunk.finish:
                        # Once more: the first word may have come before the request.
                        await self._abort(run.rid)
                    yield chunk
                    if chunk.finish:
                        return
        except EngineLost:
            self.supervisor.doubt()
            yield Chunk("", 0, {}, "abort", "engine_lost")
        except TimeoutError:
            self._run_errand(self._abort(run.rid))
            yield Chunk("", 0, {}, "abort", "timeout")

    # --- parts --------------------------------------------------------------------------------------------------------

    def _refusal(self, ticket: Ticket) -> Refused | None:
        if self.draining or self.engine.state == "down":
            return _given_back("draining" if self.draining else "engine_down")
        if ticket.attempt_id in self.asked:
            return Refused("duplicate")
        return self._misfit(ticket)

    def _no_more(self, waiting: Waiting) -> Refused | None:
        """Why a request that nothing has come of is not asked again."""
        if waiting.stopped or self.draining:
            return _given_back(waiting.stopped or "draining")
        return _given_back("engine_down") if self.engine.state == "down" else None

    def _misfit(self, ticket: Ticket) -> Refused | None:
        """What the engine could not bear, as far as it is known: a token that does not exist would end it for everybody."""
        e, given = self.engine, len(ticket.input_ids)
        if e.vocab_size is not None and any(not 0 <= token < e.vocab_size for token in ticket.input_ids):
            return Refused("bad_token")
        if e.max_input is not None and given > e.max_input:
            return Refused("too_long")
        if e.context_length is not None and given + ticket.max_out > e.context_length:
            return Refused("too_long")
        if e.pool is not None and given + ticket.max_out > FILL * e.pool:
            return Refused("too_long")
        return None

    def _fits(self, waiting: Waiting) -> bool:
        """Whether there is room for it beside those who run."""
        inside = self.running.values()
        if len(inside) >= (self.engine.slots or 1) or sum(r.first is None for r in inside) >= PREFILLING:
            return False
        held = sum(r.waiting.tokens for r in inside)
        return not inside or held + waiting.tokens <= FILL * (self.engine.pool or 0)

    def _promise(self, waiting: Waiting) -> Place:
        place: Place = asyncio.get_running_loop().create_future()
        self._places[waiting.ticket.attempt_id] = place
        return place

    def _answer(self, waiting: Waiting, turn: Running | Refused) -> None:
        """Keep the promise, with its turn or with a reason."""
        place = self._places.pop(waiting.ticket.attempt_id, None)
        if place is not None and not place.done():
            place.set_result(turn)

    def _stop(self, waiting: Waiting, reason: str) -> None:
        """Let it end wherever it is."""
        waiting.stopped = waiting.stopped or reason
        run = self.running.get(waiting.ticket.attempt_id)
        if run is not None:
            self._run_errand(self._abort(run.rid))
        elif self.queue.remove(waiting):
            self._answer(waiting, _given_back(waiting.stopped))

    def _forget(self, waiting: Waiting) -> None:
        """Nobody listens to it any more, wherever it is."""
        self._places.pop(waiting.ticket.attempt_id, None)
        self.queue.remove(waiting)
        run = self.running.get(waiting.ticket.attempt_id)
        if run is not None:
            self._release(run)

    def _release(self, run: Running) -> None:
        """Its place is free."""
        if self.running.pop(run.waiting.ticket.attempt_id, None) is not None:
            self.prefixes.let_go(run.rid)
            self.pump()

    def _run_errand(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(errand)
        self._errands.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(self._errands.discard)

    async def _abort(self, rid: str) -> None:
        engine = self.engine
        if engine.http is not None:
            headers = {"Authorization": f"Bearer {engine.admin_key}"} if engine.admin_key else {}
            with suppress(httpx.HTTPError, RuntimeError):
                await engine.http.post("/abort_request", json={"rid": rid}, headers=headers, timeout=5.0)

    def _account(self, run: Running) -> Account:
        """Close its account, and add it to the totals."""
        account = run.account(self.engine)
        usage = account[0]
        self.counters["prompt_tokens"] += usage.input_total or 0
        self.counters["cached_tokens"] += usage.cache_read or 0
        self.counters["output_tokens"] += usage.output or 0
        if usage.refused:
            self.counters["bad_usage"] += 1
        return account

    def _keep(
        self, run: Running, finish: Literal["stop", "length", "abort", "error"], cause: str, account: Account
    ) -> None:
        ticket = run.waiting.ticket
        record = AttemptRecord(
            ticket.attempt_id,
            ticket.decision_id,
            ticket.tenant,
            ticket.band,
            time.time(),
            finish,
            cause,
            *account,
        )
        self.spool.keep(record)

    def _counted(self, refused: Refused) -> Refused:
        self.counters[f"refused_{refused.reason}"] += 1
        return refused


def _given_back(reason: str) -> Refused:
    return Refused(reason, retry_after=COME_BACK[reason])
