"""Attainment is of everything that was sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.goodput import Attainment, Targets, attainment, highest_rate, meets
from tests.cases import case


@case("ACC-47")
def test_failures_are_misses(row):
    """180 of 200 in 50 s; 180 of 190 would be wrong."""
    found = attainment([True] * 180 + [False] * 10 + [False] * 10)
    assert found.share == pytest.approx(0.90)
    assert found.goodput(50) == pytest.approx(3.6)
    low, high = found.interval
    assert low < 0.9 < high


def test_what_the_caller_cancelled_is_counted_beside():
    found = attainment([True, False, None, None])
    assert found == Attainment(met=1, sent=2, cancelled=2)
    assert attainment([None]).share is None
    assert attainment([]).interval is None
    assert Attainment(1, 2).goodput(0.0) is None


def test_every_target_of_the_policy_counts():
    targets = Targets(ttft=1.0, tpot=0.05, e2e=10.0)
    assert meets(targets, ttft=1.0, tpot=0.05, e2e=10.0)
    assert not meets(targets, ttft=1.001, tpot=0.05, e2e=10.0)
    assert not meets(targets, ttft=1.0, tpot=0.051, e2e=10.0)
    assert not meets(targets, ttft=1.0, tpot=0.05, e2e=10.1)
    assert not meets(targets, ttft=None, tpot=0.01, e2e=1.0)  # promised and not observed
    assert meets(targets, ttft=0.1, tpot=None, e2e=1.0)  # one token has no time per token
    assert not meets(Targets(e2e=1.0), ttft=None, tpot=None, e2e=None)
    assert meets(Targets(), ttft=None, tpot=None, e2e=None)


def test_the_highest_rate_that_held_is_reported_without_assuming_a_shape():
    measured = [(1.0, Attainment(99, 100)), (2.0, Attainment(90, 100)), (3.0, Attainment(96, 100))]
    assert [highest_rate(measured, level) for level in (0.9, 0.95, 0.99, 1.0)] == [3.0, 3.0, 1.0, None]


@given(st.lists(st.sampled_from([True, False, None])), st.lists(st.sampled_from([True, False, None])))
def test_shards_add_up(one, two):
    assert attainment(one) + attainment(two) == attainment(one + two)
