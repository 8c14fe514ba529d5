"""The rest of a batch as an interval."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.batches.eta import LEAST, Eta, estimate


@pytest.mark.parametrize(("ended", "seconds"), [(0, 60.0), (LEAST - 1, 60.0), (50, 0.0)])
def test_too_little_to_go_by_says_nothing(ended, seconds):
    assert estimate(10, ended, seconds) is None


def test_nothing_left_takes_no_time():
    assert estimate(0, 0, 0.0) == Eta(0.0, 0.0)


@given(st.integers(1, 20_000), st.integers(LEAST, 5_000), st.floats(1.0, 300.0))
def test_the_pace_itself_lies_within_and_more_work_takes_longer(remaining, ended, seconds):
    found, more = estimate(remaining, ended, seconds), estimate(remaining + 1, ended, seconds)
    assert found and more
    assert 0 < found.soonest < remaining * seconds / ended < found.latest
    assert more.soonest > found.soonest and more.latest > found.latest


@given(st.integers(LEAST, 1_000))
def test_more_that_ended_makes_it_narrower(ended):
    few, many = estimate(100, ended, 60.0), estimate(100, ended * 4, 240.0)
    assert few and many
    assert many.latest - many.soonest < few.latest - few.soonest


def test_it_holds_in_nine_of_ten_cases():
    rng, inside, trials = random.Random(7), 0, 2_000
    rate, seconds = 0.5, 60.0
    for _ in range(trials):
        at, ended = rng.expovariate(rate), 0
        while at < seconds:
            at, ended = at + rng.expovariate(rate), ended + 1
        found = estimate(100, ended, seconds)
        inside += found is not None and found.soonest <= 100 / rate <= found.latest
    assert 0.88 <= inside / trials <= 0.95
