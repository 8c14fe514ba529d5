"""A hit rate is of tokens, counts each request once, rests on those that report, and is never a gauge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.hits import Reads, counted, once, reads, waterfall
from inference.usage import partition
from tests.cases import case


@case("ACC-31")
def test_recomputed_tokens_are_no_hits(row):
    """500 random prompts of 1,000 tokens; 240 were pushed out and found their own tokens: 0.2 %, not 32.2 %."""
    tries = [(n, 1000, 2) for n in range(500)] + [(n, 1000, 981) for n in range(240)]
    found = reads(once(tries).values())
    assert (found.requests, found.by_tokens) == (500, pytest.approx(0.002))
    assert reads((tokens, read) for _n, tokens, read in tries).by_tokens == pytest.approx(0.32, abs=0.01)


@case("ACC-32")
def test_each_request_is_counted_once_however_often_it_was_tried(row):
    """Scheduled at the third try; counting every try gives 67.5 %."""
    tries = [("one", 1000, 900)] * 3 + [("two", 1000, 0)]
    assert reads(once(tries).values()).by_tokens == pytest.approx(0.45)
    assert reads([(1000, 900)] * 3 + [(1000, 0)]).by_tokens == pytest.approx(0.675)


@case("ACC-33")
def test_the_rates_by_tokens_and_by_requests_are_two_figures(row):
    found = reads([(1000, 900), (100, 0)])
    assert found.by_tokens == pytest.approx(900 / 1100)
    assert found.by_requests == pytest.approx(0.5)
    assert found.mean_ratio == pytest.approx(0.45)
    assert found.coverage == 1.0


@case("ACC-14")
def test_a_request_that_reports_nothing_is_left_out_and_shown(row):
    """The engine's cache report is off; its request is in no rate, and the coverage says so."""
    silent = partition({"prompt_tokens": 5000, "completion_tokens": 1}, "openai")
    found = reads([(1000, 900), (silent.input_total, silent.cache_read)])
    assert found.by_tokens == pytest.approx(0.9)
    assert (found.requests, found.reported, found.coverage) == (2, 1, 0.5)
    assert reads([(None, None)]).by_tokens is None
    assert reads([]).coverage is None


@case("ACC-34")
def test_a_shared_part_below_the_block_size_is_said_to_be_shared(row):
    """240 shared tokens, blocks of 784."""
    found = waterfall(
        np.array([1000, 1000]), np.array([0, 240]), np.array([0, 240]), np.array([0, 0]), granularity=784
    )
    assert found is not None
    assert found.actual == 0.0
    assert found.below_granularity == 1
    assert found.too_small == pytest.approx(0.12) and found.lost == 0.0


@case("ACC-35")
def test_a_rate_is_the_growth_of_counters_and_not_a_gauge(row):
    """The gauge says 0.91; the counters grew by 30,000 of 100,000."""
    found = counted([(970_000.0, 1_000_000.0), (985_000.0, 1_050_000.0), (1_000_000.0, 1_100_000.0)])
    assert (found.read, found.input, found.restarts) == (30_000, 100_000, 0)
    assert found.rate == pytest.approx(0.30)


@case("ACC-35")
def test_a_counter_that_falls_means_a_restart(row):
    """What was counted before and after it both count; a difference below zero never does."""
    found = counted([(100.0, 1000.0), (150.0, 1200.0), (20.0, 100.0), (50.0, 200.0)])
    assert (found.read, found.input, found.restarts) == (50 + 20 + 30, 200 + 100 + 100, 1)
    assert counted([]).rate is None
    assert counted([(1.0, 2.0)]).rate is None


def test_the_steps_from_the_ceiling_down_add_up():
    tokens, free = np.array([100, 100, 100]), np.array([0, 90, 99])
    kept, read = np.array([0, 90, 50]), np.array([0, 80, 32])
    found = waterfall(tokens, free, kept, read, granularity=16, spread=np.array([0, 9, 0]))
    assert found is not None
    assert found.free - found.isolation == pytest.approx(found.kept)
    assert found.kept - found.too_small - found.lost == pytest.approx(found.actual)
    assert found.free == pytest.approx(189 / 300)
    assert found.isolation == pytest.approx(49 / 300)
    assert found.too_small == pytest.approx((10 + 2) / 300)
    assert found.lost == pytest.approx((80 + 48 - 112) / 300)
    assert found.spread == pytest.approx(9 / 300)
    assert waterfall(np.array([], dtype=int), *[np.array([], dtype=int)] * 3) is None


PAIRS = st.lists(
    st.one_of(
        st.tuples(st.none(), st.none()),
        st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    ),
    max_size=50,
)


@given(PAIRS, PAIRS)
def test_sums_of_two_shards_are_those_of_the_whole(one, two):
    whole, parts = reads([*one, *two]), reads(one) + reads(two)
    assert (whole.requests, whole.reported, whole.hits, whole.input, whole.read) == (
        parts.requests,
        parts.reported,
        parts.hits,
        parts.input,
        parts.read,
    )
    assert whole.ratios == pytest.approx(parts.ratios)
    for rate in (whole.by_tokens, whole.by_requests, whole.mean_ratio, whole.coverage):
        assert rate is None or 0 <= rate <= 1 + 1e-12
    assert Reads() + whole == whole


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 1000)), max_size=20), st.integers(1, 5))
def test_a_restart_never_makes_growth_negative(steps, restart_at):
    samples, read, tokens = [], 0.0, 0.0
    for number, (more_read, more) in enumerate(steps):
        if number == restart_at:
            read = tokens = 0.0
        read, tokens = read + more_read, tokens + more
        samples.append((read, tokens))
    found = counted(samples)
    assert found.read >= 0 and found.input >= 0
    assert found.restarts <= 1
