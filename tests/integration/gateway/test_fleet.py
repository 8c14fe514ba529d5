"""Two engines behind one gateway process: namespaces, sharing, and the death of one under load."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid

from inference.slo import Band
from inference.wire import TERMINAL, Aborted, Delta, Done, Restart, Started
from tests.gateway import alive, eventually, free_port
from tests.unit.inference.gateway.tickets import long_answer, ticket


def shared(tenant: str, document: str, question: str, **changes):
    """A question about a document of a tenant, as the product asks: what is shared comes first."""
    static = f"{tenant} instructions. "
    return ticket(
        static + document + question, tenant=tenant, band=Band.STANDARD, prefix_hash=f"{tenant}-static",
        prefix_tokens=len(static), share_hash=document, share_tokens=len(static + document), **changes,
    )  # fmt: skip


def engine_pids(gateway) -> list[int]:
    """Of its children, in their order."""
    return [int((gateway.state / "run" / name).read_text()) for name in ("engine.pid", "engine-2.pid")]


async def test_both_are_started_served_with_and_shown_and_end_together(own_gateway, at):
    gateway = own_gateway(NEKIBU_ENGINES="2")
    gateway.start()
    await eventually(lambda: gateway.client.state().engines_ready == 2)
    state, views = gateway.client.state(), gateway.client.engines()
    assert [(view.engine, view.state, view.restarts) for view in views] == [("fake 1", "ready", 0), ("fake 2", "ready", 0)]  # fmt: skip
    assert (state.state, state.worst, state.engines, state.slots) == ("ready", "ready", 2, 32)
    assert "nekibu_gateway_engines_ready 2" in gateway.get("/metrics").text
    callers = at(gateway)
    tenants = [uuid.uuid4().hex for _ in range(20)]
    first = [callers.ask(shared(tenant, "document ", "one?")) for tenant in tenants]
    cold = [await caller.ended() for caller in first]
    assert all(type(done) is Done for done in cold)
    assert {done.usage.cache_read for done in cold} == {0}, "another tenant's document must never hit"
    served = {(await caller.heard_at(Started)).engine for caller in first}
    assert served == {"fake 1", "fake 2"}
    for caller in first:
        tenant, engine = caller.ticket.tenant, (await caller.heard_at(Started)).engine
        again = callers.ask(shared(tenant, "document ", "two?"))
        done = await again.ended()
        assert (await again.heard_at(Started)).engine == engine
        assert done.usage.cache_read == caller.ticket.share_tokens
    pids = engine_pids(gateway)
    assert gateway.end() == 0
    assert not any(alive(pid) for pid in pids)


async def test_the_death_of_one_under_load_loses_nothing_and_answers_nothing_twice(own_gateway, at):
    gateway = own_gateway("--delay", "0.02", "--slots", "4", NEKIBU_ENGINES="2")
    gateway.start()
    await eventually(lambda: gateway.client.state().engines_ready == 2)
    callers = at(gateway)
    asked = [
        callers.ask(shared(uuid.uuid4().hex, "document ", f"{n}?", max_out=600, json_schema=long_answer(300)))
        for n in range(40)
    ]
    dying = await eventually(
        lambda: next((view.engine for view in gateway.client.engines() if view.running == 4), "")
    )
    os.kill(engine_pids(gateway)[int(dying.split()[1]) - 1], signal.SIGKILL)
    last = [await caller.ended() for caller in asked]
    assert {type(frame) for frame in last} <= {Done, Aborted}
    lost = [(caller, frame) for caller, frame in zip(asked, last, strict=True) if isinstance(frame, Aborted)]
    for caller, frame in lost:  # only those who had heard a token of the engine that died
        assert (frame.cause, frame.retryable) == ("engine_lost", True)
        assert any(isinstance(heard, Delta) for heard in caller.frames)
        assert [f.engine for f in caller.frames if isinstance(f, Started)][-1] == dying
    assert len(lost) <= 4
    for caller in asked:
        assert sum(isinstance(frame, TERMINAL) for frame in caller.frames) == 1
        if isinstance(caller.frames[-1], Done):
            text = "".join(frame.text for frame in caller.frames if isinstance(frame, Delta))
            assert text == caller.frames[-1].text
            assert len(text) == 302
    restarted = [caller for caller in asked if any(isinstance(frame, Restart) for frame in caller.frames)]
    assert all(isinstance(caller.frames[-1], Done) for caller in restarted)
    assert gateway.client.attempts() == []
    await eventually(lambda: gateway.client.state().engines_ready == 2)
    assert {view.engine: view.restarts for view in gateway.client.engines()}[dying] == 1
    # what is asked now may go to either, and the one that came back has proved that it keeps namespaces apart
    again = await callers.ask(ticket(tenant=uuid.uuid4().hex)).ended()
    assert (type(again), again.usage.cache_read) == (Done, 0)


async def test_one_that_is_not_fit_keeps_nobody_from_the_other(own_gateway, at, tmp_path):
    """Two addresses, of which one is never there: the gateway serves with the other and says so."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "tokenizer.json").write_text("{}")
    (model / "config.json").write_text(json.dumps({"vocab_size": 259, "max_position_embeddings": 4_096}))
    ports = free_port(), free_port()
    remotes = [subprocess.Popen([sys.executable, "-m", "inference.fake", "--port", str(port), *options])
               for port, options in zip(ports, ((), ("--leaky",)), strict=True)]  # fmt: skip
    try:
        gateway = own_gateway(
            NEKIBU_FAKE_ENGINE="0",
            NEKIBU_ENGINE_URL=",".join(f"http://127.0.0.1:{port}" for port in ports),
            NEKIBU_MODEL=str(model),
        )
        gateway.start()
        await eventually(lambda: gateway.client.engines()[1].state == "down")
        state = gateway.client.state()
        assert (state.ready, state.worst, state.engines_ready) == (True, "down", 1)
        assert "shares computed tokens between namespaces" in gateway.client.engines()[1].detail
        callers = at(gateway)
        for _ in range(6):
            caller = callers.ask(ticket(tenant=uuid.uuid4().hex, cache="off"))
            assert type(await caller.ended()) is Done
            assert (await caller.heard_at(Started)).engine == f"SGLang 127.0.0.1:{ports[0]}"
    finally:
        for remote in remotes:
            remote.kill()
            remote.wait()
