"""The same path over the real gateway process, with the shipped fake engine behind it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from inference import connection as meeting
from inference import registry, services
from inference.errors import EngineDown, GatewayLost
from inference.models import Attempt, Decision
from inference.trace import verify_seals
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.gateway import GatewayProcess
from tests.unit.inference.specs import Lines, request


@pytest.fixture
def process(transactional_db, tmp_path) -> Iterator[GatewayProcess]:
    made = GatewayProcess(tmp_path)
    made.start()
    meeting.install(made.client)
    yield made
    meeting.install(None)
    made.close()


@pytest.fixture
def many(process, tenant):
    """`many(keys)` asks all of them at once, as workers do, until each is settled."""
    lines = Lines(a="\n".join(f"Python project {n} in 20{n}" for n in range(10, 25)))
    spec = lines.spec(slug=f"lines.socket{time.monotonic_ns()}")
    registry.register(spec)
    actor = Actor.system(tenant.id, "worker")

    def one(key: str) -> str:
        try:
            for _ in range(100):
                try:
                    return services.decide(request(key, task=spec.slug, actor=actor, mode="batch")).status
                except (EngineDown, GatewayLost):
                    time.sleep(0.3)
            return "never"
        finally:
            connection.close()

    def ask(keys: list[str]) -> list[str]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(one, keys))

    ask.lines = lines  # type: ignore[attr-defined]
    return ask


def test_many_at_once_settle_once_each_and_leave_nothing_behind(many, process, tenant):
    assert many([f"k{n % 20}" for n in range(30)]) == ["accepted"] * 30
    assert len(many.lines.settled) == 20
    state = process.client.state()
    assert (state.running, sum(state.queues.values())) == (0, 0)
    with tenant_scope(tenant.id):
        attempts = list(Attempt.objects.order_by("created_at"))
        assert len(attempts) == 20
        assert all(a.uncached + a.cache_read == a.prompt_tokens for a in attempts)
        assert sum(a.cache_read > 0.9 * a.prompt_tokens for a in attempts) >= 18
        assert None not in {a.gateway_queue for a in attempts}
        assert verify_seals() is None


def test_a_gateway_that_is_killed_costs_time_and_nothing_else(many, process, tenant):
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(many, [f"k{n}" for n in range(24)])
        while not many.lines.settled:
            time.sleep(0.01)
        process.end(signal.SIGKILL)
        time.sleep(0.5)
        process.start()
        assert asked.result(90) == ["accepted"] * 24
    assert sorted(str(s.outcome.decision_id) for s in many.lines.settled) == sorted(
        {str(s.outcome.decision_id) for s in many.lines.settled}
    )
    with tenant_scope(tenant.id):
        assert Decision.objects.filter(status="accepted").count() == Decision.objects.count() == 24
        assert verify_seals() is None
