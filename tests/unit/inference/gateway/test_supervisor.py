"""The life of an engine under a clock that only the supervisor moves; the engine is the shipped fake, met over HTTP in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from inference.fake import FakeEngine
from inference.fake.server import Server
from inference.gateway.backoff import STEADY
from inference.gateway.config import Config
from inference.gateway.supervisor import BREAK_SECONDS, BREAKS, Supervisor
from tests.unit.inference.gateway.engine import until


class Line(httpx.AsyncBaseTransport):
    """The way to the fake engine: open, closed while it starts, broken, or with another word of its own in `said`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._inner = httpx.ASGITransport(app=Server(engine))
        self.ready, self.broken = True, False
        self.said: dict[str, object] = {}
        self.asked: list[str] = []
        self.headers: list[httpx.Headers] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append(path)
        self.headers.append(request.headers)
        if path == "/ready":
            return httpx.Response(200 if self.ready else 503)
        if self.broken:
            raise httpx.ReadError("broken", request=request)
        answer = await self._inner.handle_async_request(request)
        if path == "/server_info" and self.said:
            return httpx.Response(200, json=json.loads(await answer.aread()) | self.said)
        return answer


class World:
    """A supervisor of a remote engine. `each` is run at every pause, with the pause's length."""

    def __init__(self, folder: Path, engine: FakeEngine | None = None) -> None:
        model = folder / "model"
        model.mkdir(exist_ok=True)
        (model / "tokenizer.json").write_text("{}")
        (model / "config.json").write_text(json.dumps({"vocab_size": 259, "max_position_embeddings": 4096}))
        self.now, self.pauses, self.told = 0.0, [], []
        self.each: Callable[[float], None] = lambda seconds: None
        self.line = Line(engine or FakeEngine())
        self.config = Config(
            1, "secret", folder, fake=False, urls=("http://engine/",), model=str(model), profile="cpu"
        )
        self.make()

    def make(self, **changes: object) -> None:
        self.supervisor = Supervisor(
            replace(self.config, **changes), lambda: self.told.append("ready"), lambda: self.told.append("lost"),
            clock=lambda: self.now, sleep=self.sleep, transport=self.line,
        )  # fmt: skip
        self.engine = self.supervisor.engine

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.engine.state in {"restarting", "down"} and self.told[-1:] == ["lost"]:
            self.pauses.append((seconds, self.engine.state))
        self.each(seconds)
        await asyncio.sleep(0)

    async def live(self, condition: Callable[[], object]) -> None:
        """Run until it holds, then stop."""
        life = asyncio.create_task(self.supervisor.keep())
        try:
            await until(lambda: condition() or life.done())
        finally:
            await self.supervisor.stop()
            life.cancel()
            await asyncio.wait({life})
        if not life.cancelled() and life.exception() is not None:
            raise life.exception()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


async def test_an_engine_that_proves_itself_is_ready_and_said_to_be(world):
    seen = []
    world.each = lambda _s: seen.append(world.engine.state)
    await world.live(lambda: "ready" in seen)
    assert world.told == ["ready"]
    assert (world.engine.slots, world.engine.pool, world.engine.page) == (16, 2_000_000, 1)
    assert (world.engine.vocab_size, world.engine.context_length, world.engine.max_input) == (
        259,
        4096,
        131_072,
    )
    assert world.line.asked[:8] == ["/ready", "/workers", "/server_info"] + ["/generate"] * 5


async def test_an_engine_without_a_key_is_sent_none(world):
    await world.live(lambda: world.told)
    assert not any("authorization" in headers for headers in world.line.headers)


async def test_an_engine_elsewhere_is_sent_the_key_that_it_was_given(world):
    world.make(key="k" * 20, admin_key="a" * 20)
    await world.live(lambda: world.told)
    assert {headers["authorization"] for headers in world.line.headers} == {"Bearer " + "k" * 20}
    assert "k" * 20 not in repr(world.supervisor.config)
    assert "a" * 20 not in repr(world.supervisor.config)


async def test_it_waits_until_the_engine_is_ready_and_gives_up_after_its_bound(world):
    world.line.ready = False
    details = []
    world.each = lambda _s: details.append(world.engine.detail)
    await world.live(lambda: world.pauses)
    assert world.told == ["lost"]
    assert details[-1] == "not ready after 300 s"
    assert world.now > world.config.start_seconds
    assert world.supervisor.restarts == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"leaky": True}, "shares computed tokens between namespaces"), ({"forgetful": True}, "does not reuse")],
)
async def test_an_engine_that_does_not_keep_tenants_apart_is_never_served_with(tmp_path, options, sentence):
    world = World(tmp_path, FakeEngine(**options))
    details = []
    world.each = lambda _s: details.append((world.engine.state, world.engine.detail))
    await world.live(lambda: world.told.count("lost") == 3)
    assert "ready" not in world.told
    assert [pause for pause, _state in world.pauses[:2]] == [60.0, 60.0]
    assert {state for state, _detail in details} == {"down"}
    assert sentence in details[0][1]


@pytest.mark.parametrize(
    "said",
    [
        {"disable_radix_cache": True},
        {"speculative_algorithm": "NGRAM"},
        {"enable_hierarchical_cache": True},
        {"max_running_requests": None},
    ],
)
async def test_a_setting_that_mixes_tenants_or_says_nothing_of_its_room_is_refused(world, said):
    world.line.said = said
    await world.live(lambda: world.told)
    assert world.told == ["lost"]
    assert "/generate" not in world.line.asked


async def test_pages_of_computed_tokens_are_taken_into_account(tmp_path):
    world = World(tmp_path)
    world.line.said = {"page_size": 64}
    await world.live(lambda: world.told)
    assert (world.told, world.engine.page) == (["ready"], 64)


async def test_the_pause_doubles_and_after_many_short_lives_the_engine_is_down(world):
    world.line.broken = True
    await world.live(lambda: len(world.pauses) == 6)
    assert world.pauses == [
        (1, "restarting"), (2, "restarting"), (4, "restarting"), (8, "restarting"), (60, "down"), (60, "down"),
    ]  # fmt: skip


async def test_an_engine_that_served_for_long_comes_back_at_once(world):
    def each(_seconds):
        serving = world.told[-1:] == ["ready"]
        if serving and len(world.pauses) == 2:
            world.now += STEADY
        world.line.ready = not serving

    world.each = each
    await world.live(lambda: len(world.pauses) == 4)
    assert [pause for pause, _state in world.pauses] == [1, 2, 1, 2]


async def test_an_engine_that_nobody_asks_is_not_silent(world):
    looks = []
    world.supervisor.busy = lambda: len(looks) > 10

    def each(_seconds):
        if world.told:
            looks.append(world.now)
            world.now += 0 if world.supervisor.busy() else world.config.silence_seconds

    world.each = each
    await world.live(lambda: len(looks) > 20)
    assert world.told == ["ready"]
    assert world.line.asked.count("/generate") == 5  # the proof at its start, and none since


async def test_an_engine_that_works_in_silence_for_long_must_prove_that_it_lives(world):
    world.make(silence_seconds=5.0)
    world.supervisor.busy = lambda: True
    await world.live(lambda: world.line.asked.count("/generate") == 7)
    assert world.told == ["ready"]


async def test_a_token_ends_the_silence(world):
    world.make(silence_seconds=5.0)
    world.supervisor.busy = lambda: True
    world.each = lambda _s: world.supervisor.heard()
    await world.live(lambda: world.now > 100)
    assert world.line.asked.count("/generate") == 5


async def test_an_engine_that_is_silent_and_does_not_prove_that_it_lives_is_ended(world):
    world.make(silence_seconds=5.0)
    world.supervisor.busy = lambda: True
    details = []

    def each(_seconds):
        world.line.broken = bool(world.told)
        details.append(world.engine.detail)

    world.each = each
    await world.live(lambda: world.told == ["ready", "lost"])
    assert world.pauses[0] == (1, "restarting")
    assert "no token for 5 s" in details


async def test_streams_that_break_again_and_again_end_the_engine_though_it_proves_that_it_lives(world):
    details = []

    def each(_seconds):
        details.append(world.engine.detail)
        world.supervisor.doubt()

    world.each = each
    await world.live(lambda: "lost" in world.told)
    assert world.told == ["ready"] * BREAKS + ["lost"]
    await world.live(lambda: "5 streams broke within 30 s" in details)
    assert "5 streams broke within 30 s" in details


async def test_streams_that_break_now_and_then_do_not_end_it(world):
    def each(seconds):
        world.now += BREAK_SECONDS / 4
        world.supervisor.doubt()

    world.each = each
    await world.live(lambda: len(world.told) == 3 * BREAKS)
    assert world.told == ["ready"] * 3 * BREAKS


async def test_an_engine_that_does_not_belong_to_the_others_is_never_served_with(world):
    world.supervisor.agrees = lambda engine: f"{engine.revision} is not theirs"
    details = []
    world.each = lambda _s: details.append((world.engine.state, world.engine.detail))
    await world.live(lambda: world.told)
    await world.live(lambda: details)
    assert "ready" not in world.told
    assert details[0] == ("down", "fake@1 is not theirs")


async def test_after_a_broken_stream_nothing_is_handed_over_until_the_engine_has_answered(world):
    states = []

    def each(seconds):
        states.append(world.engine.state)
        if world.told == ["ready"] and seconds == 0.25:
            world.supervisor.doubt()

    world.each = each
    await world.live(lambda: world.told == ["ready", "ready"])
    assert states[:3] == ["ready", "restarting", "ready"]
    assert world.supervisor.restarts == 0


async def test_an_engine_that_does_not_answer_after_a_broken_stream_is_ended(world):
    def each(seconds):
        if world.told == ["ready"] and seconds == 0.25:
            world.line.broken = True
            world.supervisor.doubt()

    world.each = each
    await world.live(lambda: world.told == ["ready", "lost"])
    assert world.pauses == [(1, "restarting")]


async def test_a_remote_engine_that_is_gone_is_waited_for(world):
    def each(_seconds):
        world.line.ready = world.told != ["ready"]

    world.each = each
    await world.live(lambda: world.told == ["ready", "lost", "ready"])
    assert world.pauses == [(1, "restarting")]


async def test_without_the_tokenizer_of_a_remote_engine_nothing_is_sent_to_it(world):
    world.make(model=None)
    details = []
    world.each = lambda _s: details.append((world.engine.state, world.engine.detail))
    await world.live(lambda: world.told)
    assert (world.told, world.line.asked) == (["lost"], [])
    await world.live(lambda: details)
    assert details[0][0] == "down"
    assert "NEKIBU_MODEL" in details[0][1]


async def test_no_key_is_in_anything_that_is_printed(world):
    world.engine.key, world.engine.admin_key = "k" * 48, "a" * 48
    assert "k" * 48 not in repr(world.engine)
    assert "a" * 48 not in repr(world.engine)
    assert "secret" not in repr(world.config)
