"""Several engines behind one dispatcher: who goes where, and what the death of one costs."""

from __future__ import annotations

import asyncio

import pytest

from inference.gateway.config import Config
from inference.gateway.dispatch import COME_BACK, Dispatcher
from inference.gateway.fleet import PREFILLING, Fleet
from inference.gateway.placement import home
from inference.gateway.retries import ALWAYS
from inference.gateway.salt import salt_of
from inference.gateway.spool import Spool
from inference.gateway.supervisor import Supervisor
from inference.slo import Band
from inference.wire import Aborted, Delta, Done, Queued, Refused, Restart, Started
from tests.unit.inference.gateway.engine import DictatedEngine, idle, until
from tests.unit.inference.gateway.test_dispatch import COUNTS, KEY, Caller
from tests.unit.inference.gateway.tickets import ticket

NAMES = ["SGLang a", "SGLang b"]


class World:
    """A dispatcher before two engines that are ready."""

    def __init__(self, folder) -> None:
        self.now = 1_000.0
        config = Config(1, "secret", folder, fake=False, urls=("http://a", "http://b"), model=None, profile="cpu")  # fmt: skip
        self.engines = [DictatedEngine(), DictatedEngine()]
        supervisors = [
            Supervisor(config, place=place, clock=lambda: self.now, transport=engine)
            for place, engine in zip(config.places, self.engines, strict=True)
        ]
        self.fleet = Fleet(supervisors)
        self.known = [replica.engine for replica in self.fleet]
        for known, engine in zip(self.known, self.engines, strict=True):
            known.url, known.model, known.revision, known.tokenizer = "http://engine", "M", "R", "T"
            known.vocab_size, known.context_length, known.max_input = 259, 1_000, 994
            known.slots, known.pool = 16, 10_000
            known.connect(engine)
            known.move("ready")
        self.work = Dispatcher(
            self.fleet, KEY, Spool(folder / "attempts"), clock=lambda: self.now, sleep=self.sleep
        )
        self.callers: list[Caller] = []

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    def ask(self, asked) -> Caller:
        self.callers.append(Caller(self.work, asked))
        return self.callers[-1]

    async def call(self, engine: int, number: int = 0):
        """The n-th request of that engine."""
        await until(lambda: len(self.engines[engine].calls) > number)
        return self.engines[engine].calls[number]

    def sent(self, engine: int) -> list[str]:
        return [bytes(n - 3 for n in call.body["input_ids"]).decode() for call in self.engines[engine].calls]


@pytest.fixture
async def world(tmp_path):
    made = World(tmp_path)
    yield made
    for caller in made.callers:
        await caller.leave()
    for known in made.known:
        await known.disconnect()


def at_home(engine: int, text: str = "Hello", *, nth: int = 0, **changes):
    """A ticket whose prefix is at home on that engine; `nth` gives others of the kind."""
    found = []
    for number in range(1_000):
        made = ticket(text, prefix_hash=f"p{number}", prefix_tokens=len(text), **changes)
        if home((salt_of(KEY, made).id, f"p{number}"), NAMES) == NAMES[engine]:
            found.append(made)
        if len(found) > nth:
            return found[nth]
    raise AssertionError("no such prefix")


@pytest.mark.parametrize("engine", [0, 1])
async def test_a_prefix_goes_home_and_its_followers_after_it(world, engine):
    leader = at_home(engine, "leader")
    world.ask(leader)
    follower = ticket("follower", prefix_hash=leader.prefix_hash, prefix_tokens=6)
    world.ask(follower)
    call = await world.call(engine)
    await idle()
    assert world.sent(engine) == ["leader"]
    call.say("first")
    await world.call(engine, 1)
    assert world.sent(engine) == ["leader", "follower"]
    assert world.sent(1 - engine) == []


async def test_a_prefix_that_is_computed_on_one_engine_is_led_anew_on_the_other(world):
    first = at_home(0, "one")
    world.ask(first)
    (await world.call(0)).stop("x", **COUNTS)
    world.known[0].move("restarting")
    world.work.lost(world.fleet[0])
    world.ask(ticket("two", prefix_hash=first.prefix_hash))
    world.ask(ticket("three", prefix_hash=first.prefix_hash))
    await idle()
    assert world.sent(1) == ["two"]


async def test_what_shares_nothing_goes_to_the_engine_with_the_least_work(world):
    for _ in range(4):
        world.ask(ticket("x", cache="off"))
    await idle()
    assert [len(engine.calls) for engine in world.engines] == [2, 2]


async def test_who_waits_for_a_full_engine_does_not_hold_up_those_of_the_other(world):
    for engine in (0, 1):
        for n in range(3):
            asked = at_home(engine, f"{engine}{n}", nth=n, band=Band.STANDARD)
            world.ask(asked)
    await idle()
    assert (world.sent(0), world.sent(1)) == (["00", "01"], ["10", "11"])
    (await world.call(1)).say("a")
    await world.call(1, 2)
    assert (world.sent(0), world.sent(1)) == (["00", "01"], ["10", "11", "12"])


async def test_a_person_does_not_wait_for_a_cache_and_who_has_time_does(world):
    for known in world.known:
        known.slots = 4
    for n in range(4):
        for engine in (0, 1)[: 1 + (n < 3)]:
            world.ask(at_home(engine, f"{engine}{n}", nth=n, band=Band.STANDARD))
            (await world.call(engine, n)).say("a")
            await idle()
    assert [len(engine.calls) for engine in world.engines] == [4, 3]
    patient = world.ask(at_home(0, "patient", nth=8, band=Band.STANDARD))
    await idle()
    assert patient.frames == [Queued(1, 0)]
    person = world.ask(at_home(0, "person", nth=9))
    await person.heard(Queued, Started)
    assert (world.sent(1)[-1], patient.frames) == ("person", [Queued(1, 0)])


async def test_the_death_of_one_engine_costs_the_silent_a_restart_on_the_other_and_the_others_nothing(world):
    silent, spoken, elsewhere = (
        world.ask(at_home(0, "silent")),
        world.ask(at_home(0, "spoken", nth=1)),
        world.ask(at_home(1, "elsewhere")),
    )
    (await world.call(0, 1)).say("a", 1, **COUNTS)
    await spoken.heard(Queued, Started, Delta)
    for call in world.engines[0].calls:
        call.die()
    aborted = await spoken.heard(Queued, Started, Delta, Aborted)
    assert (aborted.cause, aborted.retryable) == ("engine_lost", True)
    await silent.heard(Queued, Started, Restart, Started)
    assert silent.frames[-1].engine == NAMES[1]
    (await world.call(1, 1)).stop("x", **COUNTS)
    assert (await silent.heard(Queued, Started, Restart, Started, Delta, Done)).requeues == 1
    (await world.call(1)).stop("x", **COUNTS)
    await elsewhere.heard(Queued, Started, Delta, Done)
    state = world.work.state()
    assert (state.state, state.worst, state.engines, state.engines_ready) == ("ready", "restarting", 2, 1)
    assert (state.slots, state.running) == (16, 0)
    assert [(view.engine, view.state) for view in world.work.engines()] == [
        (NAMES[0], "restarting"),
        (NAMES[1], "ready"),
    ]


async def test_only_when_all_engines_are_down_is_nobody_kept_waiting(world):
    for known in world.known:
        known.move("loading")
    caller = world.ask(ticket())
    await idle()
    world.known[0].move("down")
    world.work.lost(world.fleet[0])
    await caller.heard(Queued)
    world.known[1].move("down")
    world.work.lost(world.fleet[1])
    assert await caller.heard(Queued, Refused) == Refused("engine_down", COME_BACK["engine_down"])


async def test_a_cancel_reaches_the_engine_that_computes(world):
    caller = world.ask(at_home(1))
    call = await world.call(1)
    world.work.cancel(caller.ticket.attempt_id)
    await until(lambda: world.engines[1].aborted == [call.rid])
    assert world.engines[0].aborted == []


async def test_a_cancel_behind_a_router_is_told_to_every_server_for_the_router_has_no_such_route(world):
    world.known[1].workers = ("http://server-1", "http://server-2")
    caller = world.ask(at_home(1))
    call = await world.call(1)
    world.work.cancel(caller.ticket.attempt_id)
    await until(lambda: len(world.engines[1].aborted) == 2)
    assert world.engines[1].hosts[-2:] == ["server-1", "server-2"]
    assert world.engines[1].aborted == [call.rid] * 2


async def test_a_router_is_given_as_much_as_its_servers_compute_together_and_no_more_than_one_can_bear(world):
    world.known[0].move("down")
    world.known[1].workers, world.known[1].pool = ("http://server-1", "http://server-2"), 200
    for _ in range(5):
        world.ask(ticket("x", max_out=10, cache="off", band=Band.STANDARD))
    await idle()
    assert len(world.engines[1].calls) == 2 * PREFILLING
    assert await world.ask(ticket("x" * 60, max_out=31)).heard(Refused) == Refused("too_long")


async def test_draining_stops_batch_on_every_engine(world):
    callers = [world.ask(at_home(engine, band=Band.BATCH)) for engine in (0, 1)]
    calls = [await world.call(engine) for engine in (0, 1)]
    world.work.drain()
    for engine, call, caller in zip(world.engines, calls, callers, strict=True):
        await until(lambda e=engine, c=call: e.aborted == [c.rid])
        call.abort("Aborted")
        assert (await caller.heard(Queued, Started, Aborted)).cause == "draining"


async def test_a_storm_of_losses_ends_with_the_budget(world):
    """What the engine refuses again and again is not asked again for ever, however many ask."""
    callers = [world.ask(ticket(f"{n}", cache="off", band=Band.STANDARD)) for n in range(ALWAYS)]
    refused: list[object] = []
    await idle()
    while len(refused) < 2 * ALWAYS:
        for call in [call for engine in world.engines for call in engine.calls if call not in refused]:
            refused.append(call)
            call.abort("The request queue is full.", status=503)
        await idle()
    assert [type(caller.frames[-1]) for caller in callers] == [Aborted] * ALWAYS
    assert {caller.frames[-1].cause for caller in callers} == {"queue_full"}
    assert world.work.counters["requeued"] == ALWAYS


async def test_a_request_that_only_one_engine_can_bear_goes_there(world):
    world.known[0].max_input = 3
    callers = [world.ask(at_home(0, "longer", nth=n)) for n in range(2)]
    for caller in callers:
        await caller.heard(Queued, Started)
    assert (len(world.engines[0].calls), len(world.engines[1].calls)) == (0, 2)
    world.known[1].max_input = 3
    assert await world.ask(at_home(0, "longer", nth=3)).heard(Refused) == Refused("too_long")


@pytest.mark.parametrize(
    ("name", "value"),
    [("revision", "R2"), ("tokenizer", "other"), ("context_length", 2_000), ("vocab_size", 300)],
)
async def test_an_engine_with_another_model_does_not_belong_to_the_pool(world, name, value):
    assert world.fleet.agrees(world.known[1]) == ""
    setattr(world.known[1], name, value)
    said = world.fleet.agrees(world.known[1])
    assert name in said
    assert repr(value) in said
    world.known[0].move("down")  # with nobody left to disagree with, it sets the measure
    assert world.fleet.agrees(world.known[1]) == ""
