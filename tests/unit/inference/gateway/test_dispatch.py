"""From a ticket to its frames, on a clock and an engine that the test holds in its hands."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from inference.gateway.config import Config
from inference.gateway.dispatch import COME_BACK, REQUEUES, Dispatcher
from inference.gateway.fleet import FILL, PREFILLING, Fleet
from inference.gateway.salt import salt_of
from inference.gateway.spool import Spool
from inference.gateway.supervisor import Supervisor
from inference.slo import CLASSES, Band
from inference.wire import Aborted, Delta, Demoted, Done, Queued, Refused, Restart, Started
from tests.unit.inference.gateway.engine import DictatedEngine, idle, until
from tests.unit.inference.gateway.tickets import ticket

KEY = b"k" * 32
COUNTS = {"prompt_tokens": 5, "cached_tokens": 2}


class Caller:
    """Somebody who reads a ticket's frames, until its end or until they leave."""

    def __init__(self, work: Dispatcher, asked) -> None:
        self.ticket, self.frames = asked, []
        self._life = work.frames(asked)
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for frame in self._life:
            self.frames.append(frame)

    async def heard(self, *kinds: type):
        """Wait until the frames so far are of these kinds; returns the last."""
        await until(lambda: len(self.frames) >= len(kinds))
        assert [type(frame) for frame in self.frames] == list(kinds)
        return self.frames[-1]

    async def leave(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        await self._life.aclose()

    @property
    def text(self) -> str:
        return "".join(frame.text for frame in self.frames if isinstance(frame, Delta))


class World:
    """A dispatcher before an engine that is ready."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000.0
        self.engine = DictatedEngine()
        config = Config(1, "secret", folder, fake=False, urls=("http://engine",), model=None, profile="cpu")
        supervisor = Supervisor(config, clock=lambda: self.now, transport=self.engine)
        self.known = supervisor.engine
        self.known.url = "http://engine"
        self.known.vocab_size, self.known.context_length, self.known.max_input = 259, 1_000, 994
        self.known.slots, self.known.pool = 4, 10_000
        self.known.name, self.known.model, self.known.revision, self.known.fingerprint = "E", "M", "R", "F"
        self.known.connect(self.engine)
        self.known.move("ready")
        self.work = Dispatcher(
            Fleet([supervisor]), KEY, Spool(folder / "attempts"), clock=lambda: self.now, sleep=self.sleep
        )
        self.callers: list[Caller] = []

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    def ask(self, *given, **changes) -> Caller:
        self.callers.append(Caller(self.work, given[0] if given else ticket(**changes)))
        return self.callers[-1]

    async def call(self, number: int):
        """The engine's n-th request."""
        await until(lambda: len(self.engine.calls) > number)
        return self.engine.calls[number]

    def recovered(self) -> None:
        """What the supervisor does when the engine has proved that it lives."""
        self.known.move("ready")
        self.work.pump()

    def lost(self) -> None:
        """What the supervisor says when the engine is gone."""
        self.work.lost(self.work.fleet[0])

    @property
    def sent(self) -> list[str]:
        """The prompts that reached the engine, in order."""
        return [bytes(n - 3 for n in call.body["input_ids"]).decode() for call in self.engine.calls]

    def records(self):
        return self.work.spool.all()


@pytest.fixture
async def world(tmp_path):
    made = World(tmp_path)
    yield made
    for caller in made.callers:
        await caller.leave()
    await made.known.disconnect()


async def test_a_ticket_is_queued_started_streamed_and_done(world):
    caller = world.ask(ticket("Hello"))
    call = await world.call(0)
    call.say("Gü", 2, **COUNTS, completion_tokens=2)
    await caller.heard(Queued, Started, Delta)
    world.now += 4.0
    call.stop("nay", 3, **COUNTS, completion_tokens=5, weight_version="R@1", queue_time=0.25)
    done = await caller.heard(Queued, Started, Delta, Delta, Done)
    assert caller.frames[:2] == [Queued(1, 0), Started("E", "M", "R")]
    assert (done.finish, done.text, caller.text) == ("stop", "Günay", "Günay")
    assert (done.usage.uncached, done.usage.cache_read, done.usage.output) == (3, 2, 5)
    assert (done.ttft, done.tpot, done.phases.gateway_queue, done.phases.engine_queue) == (
        0.0,
        1.0,
        0.0,
        0.25,
    )
    assert (done.requeues, done.model_revision, done.engine_fingerprint) == (0, "R@1", "F")
    assert world.records() == []
    assert (world.work.running, world.work.asked) == ({}, {})


async def test_a_place_that_is_given_before_its_caller_waits_for_it_is_not_lost(world):
    life = world.work.frames(ticket())
    assert await anext(life) == Queued(1, 0)
    world.work.pump()  # somebody else's pump, in between
    assert isinstance(await anext(life), Started)
    await life.aclose()


async def test_the_salt_reaches_the_engine_and_nobody_else(world):
    caller = world.ask()
    call = await world.call(0)
    salt = salt_of(KEY, caller.ticket)
    assert call.body["cache_salt"] == salt.value
    call.stop("x", **COUNTS)
    done = await caller.heard(Queued, Started, Delta, Done)
    assert done.salt_id == salt.id
    said = json.dumps([frame.to_json() for frame in caller.frames] + [world.work.state().to_json()])
    assert salt.value not in said
    assert KEY.hex() not in said


# --- who goes when ----------------------------------------------------------------------------------------------------


async def test_no_more_enter_the_engine_than_it_computes_before_their_first_token(world):
    for n in range(4):
        world.ask(ticket(f"{n}"))
    await idle()
    assert world.sent == ["0", "1"]
    assert PREFILLING == 2
    world.engine.calls[0].say("a")
    await world.call(2)
    world.engine.calls[1].say("a")
    await world.call(3)


async def test_no_more_run_than_there_are_slots(world):
    world.known.slots = 1
    first, second = world.ask(ticket("0")), world.ask(ticket("1"))
    call = await world.call(0)
    call.say("a")
    await idle()
    assert world.sent == ["0"]
    assert second.frames == [Queued(1, 0)]
    call.stop()
    await first.heard(Queued, Started, Delta, Delta, Done)
    await world.call(1)


async def test_prompts_and_answers_together_stay_within_the_pool(world):
    world.known.pool = 200
    first, *_rest = (world.ask(ticket("x" * 60, max_out=60)) for _ in range(2))
    call = await world.call(0)
    call.say("a")
    await idle()
    assert len(world.engine.calls) == 1
    call.stop()
    await first.heard(Queued, Started, Delta, Delta, Done)
    await world.call(1)
    assert FILL == 0.9


async def test_online_goes_before_batch_that_came_first(world):
    world.known.slots = 1
    world.ask(ticket("running"))
    call = await world.call(0)
    world.ask(ticket("batch", band=Band.BATCH))
    standard = world.ask(ticket("standard", band=Band.STANDARD))
    world.ask(ticket("interactive"))
    await idle()
    assert standard.frames == [Queued(1, 0)]
    call.stop()
    for n in range(1, 4):
        (await world.call(n)).stop()
    assert world.sent == ["running", "interactive", "standard", "batch"]


async def test_who_shares_a_prefix_waits_for_its_first_token_and_no_longer(world):
    leader = world.ask(ticket("leader", prefix_hash="p"))
    world.ask(ticket("follower", prefix_hash="p"))
    world.ask(ticket("other namespace", prefix_hash="p", tenant="u"))
    await idle()
    assert world.sent == ["leader", "other namespace"]
    world.engine.calls[0].say("first")
    await world.call(2)
    assert world.sent[2] == "follower"
    assert not any(isinstance(frame, Done) for frame in leader.frames)


async def test_a_leader_who_leaves_hands_the_lead_on(world):
    leader = world.ask(ticket("leader", prefix_hash="p"))
    world.ask(ticket("second", prefix_hash="p"))
    world.ask(ticket("third", prefix_hash="p"))
    await world.call(0)
    await leader.leave()
    await world.call(1)
    await idle()
    assert world.sent == ["leader", "second"]
    world.engine.calls[1].say("first")
    await world.call(2)


async def test_after_a_loss_of_the_engine_the_prefix_is_led_again(world):
    caller = world.ask(ticket("one", prefix_hash="p"))
    (await world.call(0)).stop()
    await caller.heard(Queued, Started, Delta, Done)
    world.lost()
    world.ask(ticket("two", prefix_hash="p"))
    world.ask(ticket("three", prefix_hash="p"))
    await idle()
    assert world.sent == ["one", "two"]


async def test_nothing_is_handed_over_while_the_engine_is_not_ready(world):
    world.known.move("loading")
    caller = world.ask()
    await idle()
    assert caller.frames == [Queued(1, 0)]
    world.recovered()
    await world.call(0)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"input_ids": (5, 259)}, "bad_token"),
        ({"input_ids": (5, -1)}, "bad_token"),
        ({"input_ids": (5,) * 995, "max_out": 1}, "too_long"),
        ({"input_ids": (5,) * 990, "max_out": 11}, "too_long"),
    ],
)
async def test_what_the_engine_could_not_bear_is_refused_at_the_door_for_good(world, changes, reason):
    caller = world.ask(**changes)
    await caller.heard(Refused)
    assert caller.frames == [Refused(reason, retry_after=None)]
    assert world.work.counters[f"refused_{reason}"] == 1
    assert world.engine.calls == []


async def test_what_came_before_the_engine_was_known_is_looked_at_before_it_is_handed_over(world):
    world.known.vocab_size = world.known.context_length = world.known.max_input = None
    world.known.move("installing")
    bad, good = world.ask(input_ids=(259,)), world.ask()
    await bad.heard(Queued)
    world.known.vocab_size = 259
    world.recovered()
    assert await bad.heard(Queued, Refused) == Refused("bad_token")
    await good.heard(Queued, Started)
    assert len(world.engine.calls) == 1


async def test_what_does_not_fit_the_pool_alone_is_refused(world):
    world.known.pool = 100
    assert await world.ask(ticket("x" * 60, max_out=31)).heard(Refused) == Refused("too_long")
    await world.ask(ticket("x" * 60, max_out=30)).heard(Queued, Started)


async def test_an_attempt_that_is_already_here_is_refused_and_the_first_is_not_disturbed(world):
    first = world.ask()
    call = await world.call(0)
    assert await world.ask(first.ticket).heard(Refused) == Refused("duplicate", retry_after=None)
    call.stop("x")
    await first.heard(Queued, Started, Delta, Done)
    again = world.ask(first.ticket)
    (await world.call(1)).stop("x")
    await again.heard(Queued, Started, Delta, Done)


async def test_a_full_band_refuses_and_says_when_to_come_back(world):
    world.known.move("loading")
    for _ in range(CLASSES[Band.INTERACTIVE].queue_bound):
        world.ask()
    await idle()
    late = world.ask()
    assert await late.heard(Refused) == Refused("queue_full", retry_after=10.0)
    assert world.work.counters["refused_queue_full"] == 1
    await world.ask(band=Band.BATCH).heard(Queued)
    assert late.ticket.attempt_id not in world.work.asked


async def test_who_waits_too_long_is_told(world):
    world.known.move("loading")
    short, long, due = (
        world.ask(queue_ttl=5.0),
        world.ask(queue_ttl=50.0),
        world.ask(queue_ttl=50.0, deadline=4.0),
    )
    await idle()
    world.now += 4.0
    world.work.expire()
    assert await due.heard(Queued, Refused) == Refused("queue_timeout", COME_BACK["queue_timeout"])
    world.now += 1.0
    world.work.expire()
    await short.heard(Queued, Refused)
    await long.heard(Queued)


async def test_while_the_engine_is_down_nobody_is_kept_waiting(world):
    world.known.move("loading")
    waiting = world.ask()
    await idle()
    world.known.move("down", "leaks")
    world.lost()
    assert await waiting.heard(Queued, Refused) == Refused("engine_down", COME_BACK["engine_down"])
    assert await world.ask().heard(Refused) == Refused("engine_down", COME_BACK["engine_down"])


@pytest.mark.parametrize(
    ("wish", "kind", "counter"),
    [
        ("demote", Demoted, "demoted_predicted_miss"),
        ("reject", Refused, "refused_predicted_miss"),
    ],
)
async def test_who_can_no_longer_be_answered_in_the_promised_time_is_told(world, wish, kind, counter):
    world.known.slots = 1
    world.ask()
    await world.call(0)
    late, patient = world.ask(ttft=3.0, on_predicted_miss=wish), world.ask(ttft=3.0)
    await idle()
    world.now += 2.9
    world.work.expire()
    assert late.frames == [Queued(1, 0)]
    world.now += 0.2
    world.work.expire()
    told = await late.heard(Queued, kind)
    assert told.reason == "predicted_miss"
    assert world.work.counters[counter] == 1
    assert patient.frames[1:] == []
    assert world.work.state().policy["late"] == 1.0
    assert world.work.state().queues["interactive"] == 1


async def test_the_queue_learns_from_what_the_engine_tells(world):
    for n in range(8):
        caller = world.ask(ticket("x" * 20, key="k"))
        call = await world.call(n)
        world.now += 2.0
        call.say("a", 1, prompt_tokens=20, cached_tokens=4, completion_tokens=1)
        await caller.heard(Queued, Started, Delta)
        world.now += 1.0
        call.stop("b", 2, prompt_tokens=20, cached_tokens=4, completion_tokens=3)
        await caller.heard(Queued, Started, Delta, Delta, Done)
    learned = world.work.queue.cost
    assert learned.expected_out("k", 64) == 3
    assert (learned.prefill("k", 16), learned.work("k", 16, 2)) == (2.0, 3.0)
    had = world.work.queue.counters.had(Band.INTERACTIVE, "t")
    assert had == 8 * (16 + 2 * 3)


# --- losses -----------------------------------------------------------------------------------------------------------


async def test_an_engine_lost_before_the_first_token_costs_a_restart_and_nothing_else(world):
    first, second = world.ask(ticket("first")), world.ask(ticket("second"))
    third = world.ask(ticket("third"))
    call = await world.call(1)
    call.die()
    await second.heard(Queued, Started, Restart)
    assert world.known.state == "restarting"  # nothing more is handed over on a doubt
    (await world.call(0)).die()
    await first.heard(Queued, Started, Restart)
    await idle()
    assert len(world.engine.calls) == 2
    world.recovered()
    for number in (2, 3, 4):
        (await world.call(number)).stop("x", **COUNTS)
    assert world.sent[2:] == ["first", "second", "third"]
    done = await first.heard(Queued, Started, Restart, Started, Delta, Done)
    assert done.requeues == 1
    assert len({call.rid for call in world.engine.calls}) == 5
    await third.heard(Queued, Started, Delta, Done)


async def test_an_engine_that_dies_again_and_again_is_told_at_last(world):
    caller = world.ask()
    for number in range(REQUEUES["engine_lost"] + 1):
        (await world.call(number)).die()
        await until(lambda n=number: len(caller.frames) >= 3 + 2 * n)
        world.recovered()
    aborted = caller.frames[-1]
    assert isinstance(aborted, Aborted)
    assert (aborted.cause, aborted.retryable, aborted.requeues) == (
        "engine_lost",
        True,
        REQUEUES["engine_lost"],
    )


async def test_an_engine_lost_after_the_first_token_ends_the_request_with_what_it_had_cost(world):
    caller = world.ask()
    call = await world.call(0)
    call.say("Hel", 3, **COUNTS, completion_tokens=3)
    await caller.heard(Queued, Started, Delta)
    call.die()
    aborted = await caller.heard(Queued, Started, Delta, Aborted)
    assert (aborted.cause, aborted.retryable) == ("engine_lost", True)
    assert (aborted.usage.uncached, aborted.usage.cache_read, aborted.usage.output) == (3, 2, 3)
    assert world.records() == []


async def test_a_full_engine_queue_is_asked_again_without_doubting_the_engine(world):
    caller = world.ask()
    (await world.call(0)).abort("The request queue is full.", status=503)
    (await world.call(1)).stop("x")
    await caller.heard(Queued, Started, Restart, Started, Delta, Done)
    assert world.known.state == "ready"


async def test_a_request_the_engine_calls_wrong_is_not_asked_again(world):
    world.engine.refuse = httpx.Response(400, json={"error": "no"})
    aborted = await world.ask().heard(Queued, Started, Aborted)
    assert (aborted.cause, aborted.retryable) == ("bad_request", False)


async def test_counts_that_an_abort_did_not_bring_stay_unknown(world):
    caller = world.ask()
    (await world.call(0)).abort("Request waiting timeout reached.", status=503)
    aborted = await caller.heard(Queued, Started, Aborted)
    assert (aborted.usage.uncached, aborted.usage.cache_read, aborted.usage.output) == (None, None, None)


async def test_text_that_comes_with_an_abort_is_not_shown(world):
    caller = world.ask()
    call = await world.call(0)
    call.say("Hel", 3, **COUNTS, completion_tokens=3)
    call.abort("Aborted", text="Hello", **COUNTS, completion_tokens=5)
    aborted = await caller.heard(Queued, Started, Delta, Aborted)
    assert caller.text == "Hel"
    assert (aborted.cause, aborted.usage.output) == ("cancelled", 5)


async def test_counts_that_contradict_each_other_are_refused_and_counted(world):
    caller = world.ask()
    (await world.call(0)).stop("x", prompt_tokens=2, cached_tokens=5, completion_tokens=1)
    done = await caller.heard(Queued, Started, Delta, Done)
    assert (done.usage.uncached, done.usage.cache_read) == (None, None)
    assert done.usage.refused
    assert world.work.counters["bad_usage"] == 1


async def test_tokens_that_were_heard_are_billed_also_when_the_engine_had_no_time_to_report_them(world):
    caller = world.ask()
    call = await world.call(0)
    call.say("a", 1, **COUNTS, completion_tokens=1)
    call.say("bc", 2)
    await caller.heard(Queued, Started, Delta, Delta)
    call.die()
    aborted = await caller.heard(Queued, Started, Delta, Delta, Aborted)
    assert (aborted.usage.output, aborted.usage.cache_read) == (3, 2)
    assert aborted.usage.estimated == ("output",)


# --- time -------------------------------------------------------------------------------------------------------------


async def test_the_deadline_ends_a_request_that_has_not_begun_to_answer(world):
    caller = world.ask(deadline=10.0)
    await world.call(0)
    await caller.leave()
    world.now += 20.0
    late = world.ask(deadline=0.001)
    aborted = await late.heard(Queued, Started, Aborted)
    assert (aborted.cause, aborted.retryable) == ("timeout", True)
    assert world.engine.calls[1].closed


async def test_the_deadline_ends_a_request_in_the_middle_of_its_answer(world):
    caller = world.ask(deadline=10.0)
    call = await world.call(0)
    call.say("a", 1, **COUNTS, completion_tokens=1)
    await caller.heard(Queued, Started, Delta)
    world.now += 11.0
    call.say("b", 1, **COUNTS, completion_tokens=2)
    await until(lambda: isinstance(caller.frames[-1], Aborted))
    aborted = caller.frames[-1]
    assert (aborted.cause, aborted.usage.cache_read) == ("timeout", 2)
    assert call.closed
    await until(lambda: world.engine.aborted == [call.rid])
    assert world.work.running == {}


# --- leaving and cancelling -------------------------------------------------------------------------------------------


async def test_who_leaves_in_the_middle_stops_the_engine_and_leaves_a_record_of_the_cost(world):
    caller = world.ask(decision_id="d1", band=Band.BATCH)
    call = await world.call(0)
    call.say("a", 2, **COUNTS, completion_tokens=2)
    await caller.heard(Queued, Started, Delta)
    await caller.leave()
    assert call.closed
    await until(lambda: world.engine.aborted == [call.rid])
    [record] = world.records()
    assert (record.attempt_id, record.decision_id, record.tenant) == (caller.ticket.attempt_id, "d1", "t")
    assert (record.band, record.finish, record.cause) == (Band.BATCH, "abort", "client_cancelled")
    assert (record.usage.uncached, record.usage.cache_read, record.usage.output) == (3, 2, 2)
    assert record.salt_id == salt_of(KEY, caller.ticket).id
    assert (world.work.running, world.work.asked) == ({}, {})


async def test_who_leaves_while_the_engine_has_said_nothing_leaves_a_record_without_counts(world):
    caller = world.ask()
    await world.call(0)
    await caller.leave()
    [record] = world.records()
    assert (record.usage.uncached, record.usage.cache_read, record.usage.output) == (None, None, None)


async def test_who_leaves_while_waiting_costs_nothing_and_gives_the_place_free(world):
    world.known.move("loading")
    caller, other = world.ask(), world.ask()
    await idle()
    await caller.leave()
    assert (world.work.queue.counts()["interactive"], world.records()) == (1, [])
    world.recovered()
    await other.heard(Queued, Started)
    assert len(world.engine.calls) == 1


@pytest.mark.parametrize("frames", [1, 2])
async def test_who_leaves_before_the_engine_was_asked_costs_nothing(world, frames):
    life = world.work.frames(ticket())
    for _ in range(frames):
        await anext(life)
    await life.aclose()
    assert (world.work.running, world.work.asked, world.engine.calls) == ({}, {}, [])
    assert (sum(world.work.queue.counts().values()), world.records()) == (0, [])


async def test_an_answer_that_nobody_heard_to_its_end_is_recorded_whole(world):
    asked = ticket()
    life = world.work.frames(asked)
    await anext(life)
    await anext(life)
    reading = asyncio.ensure_future(anext(life))
    (await world.call(0)).stop("x", **COUNTS, completion_tokens=1)
    assert isinstance(await reading, Delta)
    assert isinstance(await anext(life), Done)
    await life.aclose()  # gone before the last frame was delivered
    [record] = world.records()
    assert (record.finish, record.cause, record.usage.output) == ("stop", "client_cancelled", 1)
    assert world.engine.aborted == []
    assert world.work.counters["output_tokens"] == 1


async def test_cancelling_what_waits_takes_it_out(world):
    world.known.move("loading")
    caller = world.ask()
    await idle()
    assert world.work.cancel(caller.ticket.attempt_id)
    assert await caller.heard(Queued, Refused) == Refused("cancelled", COME_BACK["cancelled"])
    assert not world.work.cancel(caller.ticket.attempt_id)


async def test_cancelling_what_runs_ends_it_with_the_engines_own_count(world):
    caller = world.ask()
    call = await world.call(0)
    call.say("a", 1, **COUNTS, completion_tokens=1)
    await caller.heard(Queued, Started, Delta)
    assert world.work.cancel(caller.ticket.attempt_id)
    await until(lambda: world.engine.aborted == [call.rid])
    call.abort("Aborted", **COUNTS, completion_tokens=4)
    aborted = await caller.heard(Queued, Started, Delta, Aborted)
    assert (aborted.cause, aborted.retryable, aborted.usage.output) == ("cancelled", False, 4)


async def test_a_cancel_that_comes_before_the_request_is_said_again(world):
    caller = world.ask()
    call = await world.call(0)
    world.work.cancel(caller.ticket.attempt_id)
    await until(lambda: world.engine.aborted == [call.rid])  # the engine did not know it yet, and goes on
    call.say("a")
    await until(lambda: world.engine.aborted == [call.rid] * 2)


async def test_a_cancel_between_its_turn_and_the_engine_computes_nothing(world):
    asked = ticket()
    life = world.work.frames(asked)
    assert isinstance(await anext(life), Queued)
    assert isinstance(await anext(life), Started)
    assert world.work.cancel(asked.attempt_id)
    assert await anext(life) == Refused("cancelled", COME_BACK["cancelled"])
    await life.aclose()
    assert world.engine.calls == []
    assert world.work.running == {}


async def test_cancelling_what_is_not_here_says_so(world):
    assert not world.work.cancel("f" * 32)


# --- draining ---------------------------------------------------------------------------------------------------------


async def test_draining_gives_batch_back_and_lets_online_end(world):
    world.known.slots = 2
    online, batch = world.ask(ticket("online")), world.ask(ticket("batch", band=Band.BATCH))
    call = await world.call(1)
    call.say("a", 1, **COUNTS, completion_tokens=1)
    await batch.heard(Queued, Started, Delta)
    online_waiting, batch_waiting = world.ask(), world.ask(band=Band.BATCH)
    await idle()
    world.work.drain()
    given_back = Refused("draining", COME_BACK["draining"])
    assert await batch_waiting.heard(Queued, Refused) == given_back
    assert await world.ask().heard(Refused) == given_back
    await until(lambda: world.engine.aborted == [call.rid])
    call.abort("Aborted", **COUNTS, completion_tokens=1)
    aborted = await batch.heard(Queued, Started, Delta, Aborted)
    assert (aborted.cause, aborted.retryable, aborted.usage.output) == ("draining", True, 1)
    (await world.call(0)).stop()
    await online.heard(Queued, Started, Delta, Done)
    (await world.call(2)).stop()
    await online_waiting.heard(Queued, Started, Delta, Done)
    assert world.work.asked == {}
    assert not world.work.state().ready


async def test_at_the_end_of_the_drain_everybody_left_is_told(world):
    world.known.slots = 1
    running, waiting = world.ask(), world.ask()
    call = await world.call(0)
    world.work.drain()
    world.work.give_up()
    assert await waiting.heard(Queued, Refused) == Refused("draining", COME_BACK["draining"])
    await until(lambda: world.engine.aborted == [call.rid])
    call.abort("Aborted")
    assert (await running.heard(Queued, Started, Aborted)).cause == "draining"


async def test_an_engine_lost_while_draining_gives_the_request_back(world):
    caller = world.ask()
    call = await world.call(0)
    world.work.drain()
    call.die()
    assert await caller.heard(Queued, Started, Restart, Refused) == Refused("draining", COME_BACK["draining"])


# --- what is said of it -----------------------------------------------------------------------------------------------


async def test_the_state_counts_what_runs_waits_and_was(world):
    world.known.slots = 1
    caller = world.ask()
    call = await world.call(0)
    world.ask(band=Band.BATCH)
    await idle()
    state = world.work.state()
    assert (state.running, state.queues) == (1, {"interactive": 0, "standard": 0, "batch": 1})
    call.stop("x", 1, **COUNTS, completion_tokens=1)
    await caller.heard(Queued, Started, Delta, Done)
    counters = world.work.state().counters
    assert {name: counters[name] for name in ("done", "prompt_tokens", "cached_tokens", "output_tokens", "restarts")} == {
        "done": 1, "prompt_tokens": 5, "cached_tokens": 2, "output_tokens": 1, "restarts": 0,
    }  # fmt: skip
