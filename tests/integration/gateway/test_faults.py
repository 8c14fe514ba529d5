"""The engine is killed in the middle: nothing is lost, nothing is answered twice."""

from __future__ import annotations

import os
import signal

from inference.wire import Aborted, Delta, Done, Queued, Refused, Restart, Started
from tests.gateway import alive, eventually
from tests.unit.inference.gateway.tickets import long_answer, ticket


def kill_engine(gateway) -> int:
    pid = gateway.engine_pid
    os.kill(pid, signal.SIGKILL)
    return pid


async def test_a_request_without_a_first_token_is_answered_after_the_restart_exactly_once(gateway, callers):
    before = gateway.client.state().counters
    gateway.signal_engine(signal.SIGSTOP)  # it takes the request, and says nothing
    inside = [callers.ask(ticket(f"inside {n}")) for n in range(2)]
    for caller in inside:
        await caller.heard(Started)
    waiting = [callers.ask(ticket(f"waiting {n}")) for n in range(3)]
    for caller in waiting:
        await caller.heard(Queued)
    killed = kill_engine(gateway)
    for caller in inside:
        done = await caller.ended()
        assert caller.kinds() == [Queued, Started, Restart, Started, Delta, Done]
        assert (done.text, done.requeues) == ("ok", 1)
    for caller in waiting:
        assert isinstance(await caller.ended(), Done)
        assert caller.kinds() == [Queued, Started, Delta, Done]
    after = gateway.client.state().counters
    assert after["done"] - before.get("done", 0) == 5
    assert after["restarts"] - before["restarts"] == 1
    assert gateway.client.attempts() == []
    assert gateway.engine_pid != killed
    assert not alive(killed)


async def test_a_request_in_the_middle_of_its_answer_ends_with_its_cost_and_can_be_asked_again(
    gateway, callers
):
    caller = callers.ask(ticket("Middle", max_out=9_000, json_schema=long_answer(8_000)))
    await caller.heard(Delta, 3)
    kill_engine(gateway)
    aborted = await caller.ended()
    heard = sum(frame.tokens for frame in caller.frames if isinstance(frame, Delta))
    assert (type(aborted), aborted.cause, aborted.retryable) == (Aborted, "engine_lost", True)
    assert (aborted.usage.input_total, aborted.usage.output) == (len("Middle"), heard)
    assert caller.kinds() == [Queued, Started, Delta, Aborted]
    again = callers.ask(ticket("Middle"))
    assert isinstance(await again.ended(), Done)
    assert gateway.client.attempts() == []


async def test_a_token_that_does_not_exist_never_reaches_the_engine(gateway, callers):
    pid = gateway.engine_pid
    for ids in ((5, 259), (5, -1), (2**40,)):
        assert await callers.ask(ticket(input_ids=ids)).ended() == Refused("bad_token", retry_after=None)
    await eventually(lambda: gateway.client.state().ready)
    assert gateway.engine_pid == pid
