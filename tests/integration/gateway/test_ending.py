"""How a gateway ends, how it comes back, and what it does not serve with. Each test has a gateway of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid

from inference.fake import LocalGateway
from inference.slo import Band
from inference.wire import Aborted, Delta, Done, Queued, Refused, Started
from tests.gateway import alive, eventually, free_port, until
from tests.unit.inference.gateway.tickets import long_answer, ticket


async def test_sigterm_lets_online_end_gives_batch_back_and_leaves_nothing(own_gateway, at):
    gateway = own_gateway("--delay", "0.02")
    gateway.start()
    pids = gateway.child.pid, gateway.engine_pid
    callers = at(gateway)
    online = callers.ask(ticket(max_out=3_000, json_schema=long_answer(400)))
    batch = callers.ask(ticket(max_out=30_000, json_schema=long_answer(20_000), band=Band.BATCH))
    await online.heard(Delta)
    await batch.heard(Delta)
    gateway.child.send_signal(signal.SIGTERM)
    aborted = await batch.ended()
    assert (type(aborted), aborted.cause, aborted.retryable) == (Aborted, "draining", True)
    assert aborted.usage.output == sum(frame.tokens for frame in batch.frames if isinstance(frame, Delta))
    assert not gateway.client.state().ready
    late = ticket()
    local = LocalGateway()
    local.drain()
    assert (
        [await callers.ask(late).ended()]
        == list(local.generate(late))
        == [Refused("draining", retry_after=10.0)]
    )
    done = await online.ended()
    assert (type(done), len(done.text)) == (Done, 402)
    assert await eventually(lambda: gateway.child.poll() is not None)
    assert gateway.child.returncode == 0
    gateway.child = None
    assert [alive(pid) for pid in pids] == [False, False]
    left = {path.name for path in (gateway.state / "run").iterdir()}
    assert left == {"attempts"}
    assert list((gateway.state / "run" / "attempts").iterdir()) == []


async def test_asked_a_second_time_it_does_not_wait(own_gateway, at):
    gateway = own_gateway("--delay", "0.02")
    gateway.start()
    engine = gateway.engine_pid
    online = at(gateway).ask(ticket(max_out=30_000, json_schema=long_answer(20_000)))
    await online.heard(Delta)
    gateway.child.send_signal(signal.SIGTERM)
    await eventually(lambda: gateway.client.state().draining)
    gateway.child.send_signal(signal.SIGTERM)
    assert (await online.ended()).cause == "draining"
    await eventually(lambda: gateway.child.poll() is not None)
    gateway.child = None
    assert not alive(engine)


async def test_a_killed_gateway_takes_its_engine_along_and_forgets_no_record_and_no_salt(own_gateway, at):
    gateway = own_gateway("--delay", "0.02")
    gateway.start()
    callers = at(gateway)
    done = await callers.ask(ticket(tenant="t")).ended()
    leaving = callers.ask(ticket(max_out=30_000, json_schema=long_answer(20_000)))
    await leaving.heard(Delta)
    await leaving.leave()
    [record] = await eventually(gateway.client.attempts)
    engine = gateway.engine_pid
    gateway.end(signal.SIGKILL)
    await eventually(lambda: not alive(engine))
    gateway.start()
    assert gateway.client.attempts() == [record]
    again = await at(gateway).ask(ticket(tenant="t")).ended()
    assert (again.salt_id, again.usage.cache_read) == (done.salt_id, 0)


def test_a_second_gateway_on_the_same_data_is_refused_and_the_first_goes_on(own_gateway):
    gateway = own_gateway()
    gateway.start()
    engine = gateway.engine_pid
    command = [sys.executable, "-m", "inference.gateway"]
    environment = {**gateway.environment, "NEKIBU_GATEWAY_PORT": str(free_port())}
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert second.returncode == 1
    assert f"A gateway already runs on {gateway.state}: process {gateway.child.pid}" in second.stderr
    assert alive(engine)
    assert gateway.client.state().ready


def test_an_engine_that_does_not_keep_namespaces_apart_is_not_served_with(own_gateway):
    gateway = own_gateway("--leaky")
    gateway.start(state="down")
    state = gateway.client.state()
    assert not state.ready
    assert "shares computed tokens between namespaces" in state.detail
    assert list(gateway.client.generate(ticket())) == [Refused("engine_down", retry_after=30.0)]
    assert state.counters.get("done", 0) == 0
    assert 'nekibu_gateway_engine{state="down"} 1' in gateway.get("/metrics").text


def test_an_engine_elsewhere_is_served_with_like_a_child(own_gateway, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "tokenizer.json").write_text("{}")
    (model / "config.json").write_text(json.dumps({"vocab_size": 259, "max_position_embeddings": 4_096}))
    port = free_port()

    def engine() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "inference.fake", "--port", str(port)])

    remote = engine()
    try:
        gateway = own_gateway(
            NEKIBU_FAKE_ENGINE="0", NEKIBU_ENGINE_URL=f"http://127.0.0.1:{port}", NEKIBU_MODEL=str(model)
        )
        gateway.start()
        state = gateway.client.state()
        assert (state.kind, state.device, state.revision, state.context_length) == (
            "sglang",
            "remote",
            "fake@1",
            4_096,
        )
        tenant = uuid.uuid4().hex
        hits = [list(gateway.client.generate(ticket(tenant=tenant)))[-1].usage.cache_read for _ in range(2)]
        assert hits == [0, len("Hello") - 1]
        assert list(gateway.client.generate(ticket(input_ids=(259,)))) == [Refused("bad_token")]
        remote.kill()
        remote.wait()
        until(lambda: gateway.engine_state() in {"restarting", "loading"})
        frames = gateway.client.generate(ticket())
        assert next(frames) == Queued(1, 0)
        remote = engine()
        assert [type(frame) for frame in frames] == [Started, Delta, Done]
    finally:
        remote.kill()
        remote.wait()
