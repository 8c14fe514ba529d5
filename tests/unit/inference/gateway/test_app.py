"""The door's own duties, beside passing frames: see tests/integration/gateway for those."""

from __future__ import annotations

import asyncio
import signal

import pytest

from inference.gateway.app import _must_not_fail


@pytest.fixture
def asked_to_end():
    """How often this process was asked to end."""
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    yield heard
    signal.signal(signal.SIGTERM, before)


async def fail() -> None:
    raise OSError("no such program")


async def test_a_gateway_whose_supervisor_failed_ends(asked_to_end, caplog):
    task = asyncio.create_task(fail(), name="supervisor")
    task.add_done_callback(_must_not_fail)
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert asked_to_end == [signal.SIGTERM]
    assert "the supervisor of the gateway failed" in caplog.text


async def test_one_that_is_told_to_stop_has_not_failed(asked_to_end):
    for task in (asyncio.create_task(asyncio.sleep(60)), asyncio.create_task(asyncio.sleep(0))):
        task.add_done_callback(_must_not_fail)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    await asyncio.sleep(0)
    assert asked_to_end == []
