"""From a ticket to its frames: waiting, handing to an engine while there is room, one more try after a loss, a record of every end."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Literal

import httpx

from inference.gateway.cost import Ending
from inference.gateway.dialect import Chunk, EngineLost, request_body, stream
from inference.gateway.fleet import Choice, Fleet, Replica
from inference.gateway.policy import Policy
from inference.gateway.queue import COME_BACK, Admitted, Promoted, Queue, Room, Waiting
from inference.gateway.retries import Retries
from inference.gateway.running import Account, Running
from inference.gateway.salt import salt_of
from inference.gateway.spool import Spool
from inference.slo import Band
from inference.wire import (
    Aborted,
    AttemptRecord,
    Delta,
    Demoted,
    Done,
    EngineState,
    EngineView,
    Frame,
    Queued,
    Refused,
    Restart,
    Started,
    Ticket,
)

REQUEUES = {"queue_full": 5, "preempted": 3, "engine_lost": 2}
RETRYABLE = {*REQUEUES, "timeout", "draining"}
Place = asyncio.Future[Running | Refused | Demoted]


class Dispatcher:
    """All that runs and waits. One per gateway; every method on the event loop."""

    def __init__(
        self,
        fleet: Fleet,
        key: bytes,
        spool: Spool,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        policy: Policy | None = None,
    ) -> None:
        self.fleet, self.key, self.spool, self.clock, self.sleep = fleet, key, spool, clock, sleep
        self.queue, self.retries = Queue(policy), Retries()
        self.asked: dict[str, Waiting] = {}  # every attempt whose caller listens
        self.running: dict[str, Running] = {}  # those of them that are inside an engine
        self.counters: Counter[str] = Counter()
        self.draining = False
        self._places: dict[str, Place] = {}  # promised to those who wait
        self._errands: set[asyncio.Task[None]] = set()
        for replica in fleet:
            replica.supervisor.busy = partial(bool, replica.running)
            replica.supervisor.on_ready = self.pump
            replica.supervisor.on_lost = partial(self.lost, replica)

    # --- what a caller asks -------------------------------------------------------------------------------------------

    async def frames(self, ticket: Ticket) -> AsyncGenerator[Frame, None]:
        """The ticket's frames, ending with done, refused, demoted or aborted.

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
        """For the header, `/readyz` and whoever must tokenise: all engines as one."""
        fleet = self.fleet
        best, worst = fleet.best.engine, fleet.worst.engine
        serving = fleet.ready or [fleet.best]
        return EngineState(
            engine=best.name, kind=best.kind, state=best.state, since=best.since, detail=best.detail, model=best.model,
            revision=best.revision, device=best.device, tokenizer=best.tokenizer, template="chatml",
            context_length=best.context_length, max_input=_most(replica.engine.max_input for replica in serving),
            vocab_size=best.vocab_size, slots=_sum(replica.engine.slots for replica in serving),
            max_total_tokens=_sum(replica.engine.pool for replica in serving), fingerprint=best.fingerprint,
            draining=self.draining, running=len(self.running), engines=len(fleet), engines_ready=len(fleet.ready),
            worst=worst.state, queues=self.queue.counts(),
            counters={**self.counters, "restarts": sum(replica.supervisor.restarts for replica in fleet)},
            policy=self.queue.snapshot(),
        )  # fmt: skip

    def engines(self) -> list[EngineView]:
        """Each engine by itself."""
        return [replica.view() for replica in self.fleet]

    # --- what the clock and the supervisor say ------------------------------------------------------------------------

    def pump(self) -> None:
        """Hand over whatever fits now."""
        while self.fleet.ready:
            choice = Choice(self.fleet)
            waiting = self.queue.pop(self._room(), choice.follows, choice.fits, self.clock())
            if waiting is None:
                return
            # Asked again, for it may have come before an engine was known.
            misfit, replica = self._misfit(waiting.ticket), choice.of(waiting)
            if misfit is not None or replica is None:
                self.queue.on_end(waiting, Ending(), self.clock())
                self._answer(waiting, misfit or Refused("too_long"))
                continue
            now = self.clock()
            unread = len(waiting.ticket.input_ids) - replica.prefixes.known(waiting)
            run = Running(waiting, replica, secrets.token_hex(16), now, now - waiting.arrived, unread)
            self.running[waiting.ticket.attempt_id] = replica.running[waiting.ticket.attempt_id] = run
            replica.prefixes.lead(waiting, run.rid)
            self.retries.handed(now)
            self._answer(waiting, run)

    def expire(self) -> None:
        """Tell those whose time has come."""
        for waiting, told in self.queue.tick(self.clock()):
            if not isinstance(told, Promoted):
                self._answer(waiting, told)

    def lost(self, replica: Replica) -> None:
        """That engine is gone, and what it had computed with it. While all are down nobody is kept waiting for them."""
        replica.prefixes.forget()
        if not self.fleet.ready:
            self.queue.forget()
        if self.fleet.down:
            for waiting in self.queue.take(lambda w: True):
                self._answer(waiting, _given_back("engine_down"))

    # --- one request --------------------------------------------------------------------------------------------------

    async def _life(self, waiting: Waiting) -> AsyncGenerator[Frame, None]:
        """Waits for its turn, is served, and waits again if its engine was lost before it had answered."""
        place = self._promise(
            waiting
        )  # before it is in the queue: whoever pumps next may take its turn at once
        admitted = self.queue.push(waiting, waiting.arrived)
        if not isinstance(admitted, Admitted):
            yield self._counted(admitted)
            return
        yield Queued(*self.queue.position(waiting))
        while True:
            self.pump()
            turn = await place
            if isinstance(turn, Refused | Demoted):
                yield self._counted(turn)
                return
            engine = turn.replica.engine
            yield Started(engine.name, engine.model, engine.revision)
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
            self.queue.push_back(waiting, self.clock())

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
            if (
                run.tokens == 0
                and run.waiting.requeues < REQUEUES.get(cause, 0)
                and self.retries.take(self.clock())
            ):
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
                    self._run_errand(self._abort(run))
                    self.counters["aborted_client_cancelled"] += 1
                    account = self._account(run)
                self._keep(run, finish, cause, account)

    async def _chunks(self, run: Running) -> AsyncGenerator[Chunk, None]:
        """The engine's chunks; what can go wrong with it comes as a last one."""
        ticket, replica = run.waiting.ticket, run.replica
        http = replica.engine.http
        if http is None:
            yield Chunk("", 0, {}, "abort", "engine_lost")
            return
        try:
            async with aclosing(
                stream(http, request_body(run.waiting, run.rid, repeat_salt=replica.engine.extra_key))
            ) as chunks:
                while True:
                    # Around each step, not around all: a timeout belongs to the task that opened it, and each step has its own.
                    used = self.clock() - run.waiting.arrived
                    async with asyncio.timeout(None if ticket.deadline is None else ticket.deadline - used):
                        chunk = await anext(chunks)
                    replica.supervisor.heard()
                    was_silent, now = run.first is None, self.clock()
                    run.hear(chunk, now)
                    if chunk.tokens:
                        self.queue.on_tokens(run.waiting, chunk.tokens, now)
                    if was_silent and run.first is not None:
                        replica.prefixes.computed(run.waiting)
                        self.pump()
                    if run.waiting.stopped and not chunk.finish:
                        # Once more: the first word may have come before the request.
                        await self._abort(run)
                    yield chunk
                    if chunk.finish:
                        return
        except EngineLost:
            replica.supervisor.doubt()
            yield Chunk("", 0, {}, "abort", "engine_lost")
        except TimeoutError:
            self._run_errand(self._abort(run))
            yield Chunk("", 0, {}, "abort", "timeout")

    # --- parts --------------------------------------------------------------------------------------------------------

    def _refusal(self, ticket: Ticket) -> Refused | None:
        if self.draining or self.fleet.down:
            return _given_back("draining" if self.draining else "engine_down")
        if ticket.attempt_id in self.asked:
            return Refused("duplicate")
        return self._misfit(ticket)

    def _no_more(self, waiting: Waiting) -> Refused | None:
        """Why a request that nothing has come of is not asked again."""
        if waiting.stopped or self.draining:
            return _given_back(waiting.stopped or "draining")
        return _given_back("engine_down") if self.fleet.down else None

    def _misfit(self, ticket: Ticket) -> Refused | None:
        """What no engine could bear, as far as they are known: a token that does not exist would end one for everybody."""
        e, given = self.fleet.best.engine, len(ticket.input_ids)
        if e.vocab_size is not None and any(not 0 <= token < e.vocab_size for token in ticket.input_ids):
            return Refused("bad_token")
        if e.context_length is not None and given + ticket.max_out > e.context_length:
            return Refused("too_long")
        if not any(
            replica.bears(given, given + ticket.max_out) for replica in self.fleet.expected or self.fleet
        ):
            return Refused("too_long")
        return None

    def _room(self) -> Room:
        """The engines that are ready, as one."""
        ready = self.fleet.ready
        pool = sum(replica.engine.pool or 0 for replica in ready)
        held = sum(run.waiting.tokens for replica in ready for run in replica.running.values())
        return Room(
            slots=sum(replica.slots for replica in ready),
            running=sum(len(replica.running) for replica in ready),
            used=held / pool if pool else 0.0,
            engines=sum(replica.servers for replica in ready),
        )

    def _promise(self, waiting: Waiting) -> Place:
        place: Place = asyncio.get_running_loop().create_future()
        self._places[waiting.ticket.attempt_id] = place
        return place

    def _answer(self, waiting: Waiting, turn: Running | Refused | Demoted) -> None:
        """Keep the promise, with its turn or with a reason."""
        place = self._places.pop(waiting.ticket.attempt_id, None)
        if place is not None and not place.done():
            place.set_result(turn)

    def _stop(self, waiting: Waiting, reason: str) -> None:
        """Let it end wherever it is."""
        waiting.stopped = waiting.stopped or reason
        run = self.running.get(waiting.ticket.attempt_id)
        if run is not None:
            self._run_errand(self._abort(run))
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
            del run.replica.running[run.waiting.ticket.attempt_id]
            run.replica.prefixes.let_go(run.rid)
            self.queue.on_end(run.waiting, run.ending(), self.clock())
            self.pump()

    def _run_errand(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(errand)
        self._errands.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(self._errands.discard)

    async def _abort(self, run: Running) -> None:
        engine = run.replica.engine
        if engine.http is not None:
            headers = {"Authorization": f"Bearer {engine.admin_key}"} if engine.admin_key else {}
            # A router has no such route, so whoever is behind it is told.
            for server in engine.workers or ("",):
                with suppress(httpx.HTTPError, RuntimeError):
                    await engine.http.post(
                        f"{server}/abort_request", json={"rid": run.rid}, headers=headers, timeout=5.0
                    )

    def _account(self, run: Running) -> Account:
        """Close its account, and add it to the totals."""
        account = run.account()
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

    def _counted(self, told: Refused | Demoted) -> Refused | Demoted:
        self.counters[f"{told.type}_{told.reason}"] += 1
        return told


def _sum(values: Iterable[int | None]) -> int | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _given_back(reason: str) -> Refused:
    return Refused(reason, retry_after=COME_BACK[reason])
