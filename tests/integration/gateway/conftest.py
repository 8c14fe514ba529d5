"""One gateway for all tests here that do not end it; its fake engine takes a moment for every eight tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.gateway import Callers, GatewayProcess, until


@pytest.fixture(scope="package")
def gateway_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    made = GatewayProcess(tmp_path_factory.mktemp("gateway"), "--delay", "0.02", "--slots", "4")
    made.start()
    yield made
    made.close()


@pytest.fixture
def gateway(gateway_of_all: GatewayProcess) -> Iterator[GatewayProcess]:
    """The shared gateway, with nothing in it and nothing kept, before and after."""
    until(lambda: idle(gateway_of_all))
    yield gateway_of_all
    until(lambda: idle(gateway_of_all))
    gateway_of_all.client.acknowledge([record.attempt_id for record in gateway_of_all.client.attempts()])


def idle(gateway: GatewayProcess) -> bool:
    state = gateway.client.state()
    return state.ready and state.running == 0 and sum(state.queues.values()) == 0


@pytest.fixture
async def callers(gateway: GatewayProcess) -> AsyncIterator[Callers]:
    """`callers.ask(ticket)`: somebody who listens to the shared gateway."""
    made = Callers(gateway)
    yield made
    await made.leave()


@pytest.fixture
async def at() -> AsyncIterator[Callable[[GatewayProcess], Callers]]:
    """`at(gateway)`: its callers."""
    made: list[Callers] = []

    def of(gateway: GatewayProcess) -> Callers:
        made.append(Callers(gateway))
        return made[-1]

    yield of
    for callers in made:
        await callers.leave()


@pytest.fixture
def own_gateway(tmp_path: Path) -> Iterator[Callable[..., GatewayProcess]]:
    """`own_gateway(*options, **environment)`: one that the test may end."""
    made: list[GatewayProcess] = []

    def make(*options: str, **environment: str) -> GatewayProcess:
        made.append(GatewayProcess(tmp_path, *options, **environment))
        return made[-1]

    yield make
    for process in made:
        process.close()
