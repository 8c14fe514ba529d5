"""A router is served with only when namespaces stay apart on every server that it leads to."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fake import FakeEngine
from inference.gateway import router
from inference.gateway.config import Config
from inference.gateway.dialect import request_body
from inference.gateway.engines import Engine, isolated, learn
from inference.gateway.queue import Waiting
from inference.gateway.salt import salt_of
from inference.gateway.supervisor import Supervisor
from tests.unit.inference.gateway.engine import until
from tests.unit.inference.gateway.routers import Router
from tests.unit.inference.gateway.test_supervisor import Line
from tests.unit.inference.gateway.tickets import ticket


async def met(line: httpx.AsyncBaseTransport) -> Engine:
    """The engine behind that line, as far as it says who it is."""
    engine = Engine("SGLang", "sglang", url="http://router", vocab_size=259, context_length=4_096)
    engine.workers = await router.workers(engine.connect(line))
    assert await learn(engine, {}) == ""
    return engine


async def test_a_router_that_keeps_the_salt_is_served_with_and_each_server_was_asked():
    line = Router([FakeEngine(), FakeEngine()])
    engine = await met(line)
    assert engine.workers == ("http://server-1", "http://server-2")
    assert await isolated(engine) == ""
    assert not engine.extra_key
    asked = Counter(at for at, _body in line.bodies)
    assert set(asked) == set(engine.workers)
    assert not any("extra_key" in body for _at, body in line.bodies)


async def test_a_router_that_drops_the_salt_is_given_it_once_more_as_extra_key():
    line = Router([FakeEngine(), FakeEngine()], drops=["cache_salt"])
    engine = await met(line)
    assert await isolated(engine) == ""
    assert engine.extra_key
    assert all(body["extra_key"] for _at, body in line.bodies[-7:])


async def test_a_router_that_drops_both_is_refused_with_a_sentence():
    """The other half of the pair: with the salts gone, both namespaces hit."""
    line = Router([FakeEngine(), FakeEngine()], drops=["cache_salt", "extra_key"])
    said = await isolated(await met(line))
    assert "passes on neither cache_salt nor extra_key" in said


async def test_a_server_alone_that_drops_the_salt_gets_no_second_way():
    engine = await met(Line(FakeEngine(leaky=True)))
    assert "shares computed tokens between namespaces" in await isolated(engine)
    assert not engine.extra_key


async def test_one_server_of_two_that_mixes_namespaces_is_found_behind_the_router():
    for leaky in (0, 1):
        engines = [FakeEngine(leaky=number == leaky) for number in range(2)]
        assert "neither" in await isolated(await met(Router(engines)))


async def test_a_router_that_sends_each_call_elsewhere_still_shows_whether_salts_arrive():
    fair = [FakeEngine(), FakeEngine(), FakeEngine()]
    assert await isolated(await met(Router(fair, in_turn=True))) == ""
    line = Router(fair, in_turn=True, drops=["cache_salt", "extra_key"])
    assert "neither" in await isolated(await met(line))


async def test_servers_that_compute_everything_again_are_refused():
    said = await isolated(await met(Router([FakeEngine(forgetful=True), FakeEngine(forgetful=True)])))
    assert "does not lead equal prefixes" in said


async def test_what_a_router_can_hold_is_what_its_servers_hold_together():
    engine = await met(Router([FakeEngine(), FakeEngine()]))
    assert (engine.slots, engine.pool) == (32, 4_000_000)


async def test_servers_of_another_revision_or_with_an_unsafe_setting_are_refused():
    line = Router([FakeEngine(), FakeEngine()])
    engine = await met(line)
    line.said = {"http://server-2": {"weight_version": "other@1"}}
    assert "'other@1' instead of 'fake@1'" in await learn(engine, {})
    line.said = {"http://server-2": {"disable_radix_cache": True}}
    assert "does not keep tenants apart" in await learn(engine, {})


async def test_a_server_that_is_no_router_has_nobody_behind_it():
    engine = Engine("SGLang", "sglang", url="http://engine")
    assert await router.workers(engine.connect(Line(FakeEngine()))) == ()


@given(st.integers(2, 64))
def test_so_many_prefixes_reach_every_server_but_for_one_time_in_a_hundred(count):
    missed = count * (1 - 1 / count) ** router.rounds(count)
    assert missed <= router.SURE


def test_the_salt_is_repeated_only_where_it_must_be():
    asked = ticket()
    salt = salt_of(b"k" * 32, asked)
    waiting = Waiting(asked, salt, 0.0, 1.0)
    assert "extra_key" not in request_body(waiting, "r")
    body = request_body(waiting, "r", repeat_salt=True)
    assert body["extra_key"] == body["cache_salt"] == salt.value


# --- its life ---------------------------------------------------------------------------------------------------------


class World:
    """A supervisor of a router. `each` is run at every pause."""

    def __init__(self, folder, line: Router) -> None:
        model = folder / "model"
        model.mkdir()
        (model / "tokenizer.json").write_text("{}")
        (model / "config.json").write_text(json.dumps({"vocab_size": 259, "max_position_embeddings": 4096}))
        config = Config(1, "secret", folder, fake=False, urls=("http://router",), model=str(model), profile="cpu")  # fmt: skip
        self.now, self.line, self.told, self.seen = 0.0, line, [], []
        self.each = lambda: None
        self.supervisor = Supervisor(
            config, lambda: self.told.append("ready"), lambda: self.told.append("lost"),
            clock=lambda: self.now, sleep=self.sleep, transport=line,
        )  # fmt: skip
        self.engine = self.supervisor.engine

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.seen.append((self.engine.state, self.engine.detail))
        self.each()
        await asyncio.sleep(0)

    async def live(self, condition) -> None:
        life = asyncio.create_task(self.supervisor.keep())
        try:
            await until(lambda: condition() or life.done())
        finally:
            await self.supervisor.stop()
            life.cancel()
            await asyncio.wait({life})


async def test_a_router_is_ready_by_its_own_word_and_proved(tmp_path):
    world = World(tmp_path, Router([FakeEngine(), FakeEngine()]))
    await world.live(lambda: world.told)
    assert world.told == ["ready"]
    assert world.engine.slots == 32


@pytest.mark.parametrize("drops", [["cache_salt", "extra_key"]])
async def test_a_router_that_mixes_namespaces_is_never_served_with(tmp_path, drops):
    world = World(tmp_path, Router([FakeEngine(), FakeEngine()], drops=drops))
    await world.live(lambda: len(world.told) == 2)
    assert world.told == ["lost", "lost"]
    assert world.seen[0][0] == "down"
    assert "neither cache_salt nor extra_key" in world.seen[0][1]


async def test_a_server_that_joins_must_prove_itself_before_anything_more_is_handed_over(tmp_path):
    line = Router([FakeEngine(), FakeEngine(leaky=True)])
    line.healthy.discard("http://server-2")
    world = World(tmp_path, line)

    def each() -> None:
        if world.told == ["ready"]:
            line.healthy.add("http://server-2")

    world.each = each
    await world.live(lambda: "lost" in world.told)
    assert world.told[:2] == ["ready", "lost"]
    assert any(state == "down" and "neither" in detail for state, detail in world.seen)


async def test_a_server_that_leaves_takes_its_slots_along_and_nothing_else(tmp_path):
    line = Router([FakeEngine(), FakeEngine()])
    world = World(tmp_path, line)

    def each() -> None:
        if world.told == ["ready"]:
            line.healthy.discard("http://server-1")

    world.each = each
    await world.live(lambda: world.told == ["ready", "ready"])
    assert world.told == ["ready", "ready"]
    assert (world.engine.slots, world.engine.workers) == (16, ("http://server-2",))
