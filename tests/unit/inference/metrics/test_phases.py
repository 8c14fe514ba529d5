"""Phases add up to the whole, what is left over stays apart, and the dominant phase is named only where it is sure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.phases import LEVERS, PARTS, PHASES, Breakdown, dominant
from tests.cases import case

ACC_43 = Breakdown(
    phases={
        "gateway_queue": 0.040,
        "engine_queue": 0.010,
        "prefill": 0.120,
        "decode": 0.800,
        "validate": 0.030,
        "approve": 3600.0,
    },
    e2e=3601.0,
)


@case("ACC-43")
def test_the_phases_add_up_and_a_persons_wait_is_no_time_of_the_model(row):
    assert ACC_43.unattributed == pytest.approx(0.0, abs=1e-9)
    assert ACC_43.adds_up
    assert ACC_43.model_seconds == pytest.approx(1.0)


@case("ACC-43")
def test_a_remainder_is_its_own_bucket(row):
    """Never spread over the phases."""
    left = Breakdown(phases={"decode": 0.5}, e2e=1.0, prepare=0.1, backlog=0.2)
    assert left.unattributed == pytest.approx(0.2)
    assert left.adds_up is False
    assert left.part("decode") == 0.5 and left.part("prefill") is None
    assert left.part("unattributed") == pytest.approx(0.2)
    assert Breakdown(phases={"decode": 0.5}).unattributed is None
    assert Breakdown(phases={"decode": 0.5}).adds_up is None


@pytest.mark.parametrize(
    ("e2e", "left", "fine"),
    [(0.1, 0.010, True), (0.1, 0.011, False), (10.0, 0.2, True), (10.0, 0.21, False), (0.1, -0.02, False)],
)
def test_the_remainder_may_be_ten_milliseconds_or_two_percent(e2e, left, fine):
    assert Breakdown(phases={"decode": e2e - left}, e2e=e2e).adds_up is fine


SECONDS = st.one_of(st.none(), st.floats(0, 1e4))


@given(st.fixed_dictionaries(dict.fromkeys(PHASES, SECONDS)), SECONDS, SECONDS, st.floats(0, 1e5))
def test_all_parts_together_are_always_the_whole(phases, prepare, backlog, e2e):
    found = Breakdown(phases=phases, e2e=e2e, prepare=prepare, backlog=backlog)
    parts = [found.part(name) for name in PARTS]
    assert sum(p for p in parts if p is not None) == pytest.approx(e2e, abs=1e-6)


def test_the_phase_that_makes_the_slow_ones_slow_is_named_with_its_levers():
    rng = np.random.default_rng(1)
    n = 400
    decode = rng.uniform(0.1, 0.2, n)
    queue = np.where(np.arange(n) % 20 == 0, rng.uniform(2.0, 3.0, n), 0.01)  # the slow twentieth waits
    found = dominant(np.column_stack([queue, decode]), ["gateway_queue", "decode"])
    assert (found.phase, found.levers) == ("gateway_queue", LEVERS["gateway_queue"])
    assert found.n == n and 20 <= found.tail < 25
    assert found.shares[0].low > found.shares[1].high
    assert sum(share.mean for share in found.shares) == pytest.approx(1.0)


def test_two_phases_that_cannot_be_told_apart_are_mixed():
    rng = np.random.default_rng(2)
    seconds = rng.exponential(1.0, (400, 2))
    found = dominant(seconds, ["prefill", "decode"])
    assert found.phase == "mixed"
    assert set(found.levers) == {*LEVERS["prefill"], *LEVERS["decode"]}


def test_too_few_requests_have_no_dominant_phase():
    found = dominant(np.ones((58, 2)), ["prefill", "decode"])
    assert (found.phase, found.n, found.needed) == (None, 58, 59)
    assert dominant(np.zeros((100, 2)), ["prefill", "decode"]).phase is None


def test_what_was_not_observed_counts_as_nothing():
    seconds = np.column_stack([np.full(100, np.nan), np.full(100, 1.0)])
    assert dominant(seconds, ["prefill", "decode"]).phase == "decode"
