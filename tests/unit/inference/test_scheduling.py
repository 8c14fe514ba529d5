"""The clock and the band of a request."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from inference.scheduling import schedule
from inference.slo import Band
from inference.types import ServicePolicy, Slo

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
BATCH = ServicePolicy(slo=Slo(band=Band.BATCH))


@pytest.mark.parametrize(
    ("policy", "mode", "clock", "band"),
    [
        (ServicePolicy(), "auto", "online", Band.STANDARD),
        (ServicePolicy(), "online", "online", Band.INTERACTIVE),
        (ServicePolicy(), "batch", "batch", Band.BATCH),
        (BATCH, "auto", "batch", Band.BATCH),
        (BATCH, "online", "online", Band.INTERACTIVE),
    ],
)
def test_band(policy, mode, clock, band):
    plan = schedule(policy, mode, now=NOW, deadline_at=None)
    assert (plan.clock, plan.band, plan.deadline) == (clock, band, None)


def test_a_near_deadline_buys_no_place_in_the_queue():
    soon = schedule(ServicePolicy(), "auto", now=NOW, deadline_at=NOW + timedelta(seconds=2))
    late = schedule(ServicePolicy(), "auto", now=NOW, deadline_at=None)
    assert replace(soon, deadline=None, reasons=()) == replace(late, reasons=())
    assert soon.deadline == 2.0


def test_the_shorter_of_promise_and_deadline_counts():
    policy = ServicePolicy(slo=Slo(e2e_ms=5000))
    assert schedule(policy, "auto", now=NOW, deadline_at=NOW + timedelta(seconds=60)).deadline == 5.0
    assert schedule(policy, "auto", now=NOW, deadline_at=NOW - timedelta(seconds=1)).deadline == 0.001


@pytest.mark.parametrize(
    ("ttft_ms", "device", "seconds"),
    [(1_000, "cuda", 1.0), (1_000, "cpu", 10.0), (20_000, "cpu", 20.0), (None, "cpu", None)],
)
def test_a_machine_without_a_gpu_promises_no_sooner_than_its_preset(ttft_ms, device, seconds):
    policy = ServicePolicy(slo=Slo(ttft_ms=ttft_ms))
    assert schedule(policy, "auto", now=NOW, deadline_at=None, device=device).ttft == seconds


def test_batch_promises_no_first_token():
    assert schedule(ServicePolicy(), "batch", now=NOW, deadline_at=None).ttft is None
