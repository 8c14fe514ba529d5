"""Percentiles are samples, intervals hold what they promise, and too few samples give no figure."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.stats import (
    CLUSTERS,
    Quantile,
    at_least,
    at_most,
    bootstrap,
    bound_ranks,
    cluster_bootstrap,
    least_n,
    paired_ratio,
    percentile,
    quantile,
    rank,
    ratio,
    ratio_of_sums,
    wilson,
)
from tests.cases import case

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400)
SHARES = st.sampled_from([0.01, 0.05, 0.07, 0.5, 0.9, 0.95, 0.99])


@pytest.mark.parametrize(
    ("share", "needed"),
    [(0.5, 5), (0.9, 29), (0.95, 59), (0.99, 299)],
    ids=["p50", "p90", "ACC-46 p95", "ACC-46 p99"],
)
def test_a_percentile_needs_enough_samples_for_a_bound_from_above(share, needed):
    assert least_n(share) == needed
    assert 1 - share**needed >= 0.95 > 1 - share ** (needed - 1)
    samples = [float(n) for n in range(needed)]
    assert quantile(samples[:-1], share) == Quantile(share, needed - 1, needed)
    assert not quantile(samples[:-1], share).enough
    found = quantile(samples, share)
    assert found.enough
    assert found.value == samples[rank(needed, share) - 1]
    assert found.high == samples[-1]  # with just enough, the largest sample is the bound


@case("ACC-44")
def test_shards_are_merged_by_their_samples(row):
    """900 at 100 ms and 100 at 1,000 ms; neither the mean of two p95 (550) nor a mean (190)."""
    found = quantile([0.1] * 900 + [1.0] * 100, 0.95)
    assert (found.value, found.n) == (1.0, 1000)


def test_ranks_are_exact_where_floats_are_not():
    assert rank(100, 0.07) == 7  # 0.07 · 100 is 7.000000000000001 in binary
    assert [rank(n, 0.95) for n in (1, 20, 59, 60, 100)] == [1, 19, 57, 57, 95]
    assert rank(10, 0.5) == 5
    for wrong in (0, 1, 1.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            rank(5, wrong)
    with pytest.raises(ValueError, match="at least one"):
        rank(0, 0.5)


@given(SAMPLES, SHARES)
def test_a_percentile_is_a_sample_with_the_right_number_of_samples_below_it(samples, share):
    value = percentile(samples, share)
    assert value in samples
    assert sum(s <= value for s in samples) >= share * len(samples) - 1e-9
    assert sum(s < value for s in samples) < share * len(samples) + 1e-9


@given(SAMPLES, SHARES, st.randoms())
def test_order_and_sharding_change_nothing(samples, share, rng):
    shuffled = samples[:]
    rng.shuffle(shuffled)
    assert quantile(shuffled, share) == quantile(samples, share)


@given(st.integers(1, 3000), SHARES)
def test_the_bounds_enclose_the_percentile(n, share):
    low, high = bound_ranks(n, share)
    here = rank(n, share)
    assert low is None or 1 <= low <= here
    assert high is None or here <= high <= n
    assert (high is not None) == (1 - share**n >= 0.95 - 1e-12)


@pytest.mark.parametrize(("n", "share"), [(59, 0.95), (200, 0.5), (1000, 0.95), (5000, 0.99)])
def test_the_bounds_hold_in_95_of_100_draws(n, share):
    """Exactly: the chance that the upper order statistic lies under the true percentile is at most 5 %, and hardly less."""
    low, high = bound_ranks(n, share)
    chance_above = sum(
        _pmf(n, k, share) for k in range(high)
    )  # fewer than `high` samples under the percentile
    assert chance_above >= 0.95
    assert sum(_pmf(n, k, share) for k in range(high - 1)) < 0.95
    assert sum(_pmf(n, k, share) for k in range(low, n + 1)) >= 0.95
    assert sum(_pmf(n, k, share) for k in range(low + 1, n + 1)) < 0.95


def test_a_rate_is_shown_in_wilsons_interval():
    low, high = wilson(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 10)[0] == 0.0 and wilson(0, 10)[1] == pytest.approx(0.2775, abs=1e-4)
    assert wilson(10, 10)[1] == 1.0
    with pytest.raises(ValueError, match="between"):
        wilson(3, 2)


@given(st.integers(1, 2000), st.data())
def test_wilson_encloses_the_rate_and_narrows_with_more_trials(trials, data):
    good = data.draw(st.integers(0, trials))
    low, high = wilson(good, trials)
    assert 0 <= low <= good / trials <= high <= 1
    more = wilson(good * 9, trials * 9)
    assert more[1] - more[0] < high - low + 1e-12


def test_the_lower_bound_of_a_rate_is_the_exact_one():
    assert at_least(40, 40) == pytest.approx(0.05 ** (1 / 40), abs=1e-9)
    assert at_least(0, 5) == 0.0
    assert at_least(39, 40) < at_least(40, 40)
    with pytest.raises(ValueError, match="between"):
        at_least(3, 2)


@pytest.mark.parametrize(("budget", "n"), [(0.05, 59), (0.02, 149), (0.01, 299)])
def test_an_error_budget_without_errors_needs_this_many_cases(budget, n):
    assert at_most(0, n) <= budget < at_most(0, n - 1)


@given(st.integers(1, 400), st.data())
def test_the_exact_bounds_are_where_the_tail_is_five_percent(trials, data):
    good = data.draw(st.integers(0, trials))
    low, high = at_least(good, trials), at_most(good, trials)
    assert low <= good / trials <= high
    if good > 0:
        assert sum(_pmf(trials, k, low) for k in range(good, trials + 1)) == pytest.approx(0.05, abs=1e-6)
    if good < trials:
        assert sum(_pmf(trials, k, high) for k in range(good + 1)) == pytest.approx(0.05, abs=1e-6)


def test_the_interval_of_a_mean_contains_it_and_narrows_with_more_cases():
    rng = random.Random(1)
    few = [rng.gauss(10, 2) for _ in range(20)]
    many = [rng.gauss(10, 2) for _ in range(500)]
    low, high = bootstrap(few, statistics.fmean) or (0, 0)
    assert low < statistics.fmean(few) < high
    narrow = bootstrap(many, statistics.fmean) or (0, 0)
    assert narrow[1] - narrow[0] < (high - low) / 2
    assert bootstrap(few, statistics.fmean) == (low, high)
    assert bootstrap([3.0], lambda values: values[0]) is None
    assert bootstrap([1.0, 2.0], lambda values: math.nan) is None


def test_whole_clusters_are_drawn_because_their_members_say_the_same():
    """Ten calls about each of 30 documents hold 30 independent facts and not 300."""
    rng = np.random.default_rng(3)
    documents = rng.normal(10, 2, 30)
    by_document = np.column_stack([documents * 10, np.full(30, 10)])
    by_call = np.column_stack([np.repeat(documents, 10), np.ones(300)])
    wide, narrow = cluster_bootstrap(by_document, ratio_of_sums), cluster_bootstrap(by_call, ratio_of_sums)
    assert wide is not None and narrow is not None
    assert wide[0] < documents.mean() < wide[1]
    assert 2.5 < (wide[1] - wide[0]) / (narrow[1] - narrow[0]) < 4.0  # √10
    assert cluster_bootstrap(by_document[:1], ratio_of_sums) is None
    assert cluster_bootstrap(np.zeros((5, 2)), ratio_of_sums) is None


def test_pooling_many_clusters_keeps_the_interval():
    rng = np.random.default_rng(5)
    cost = rng.exponential(2.0, 100 * CLUSTERS)
    found = cluster_bootstrap(np.column_stack([cost, np.ones_like(cost)]), ratio_of_sums)
    assert found is not None
    expected = 2 * 1.96 * cost.std() / math.sqrt(len(cost))
    assert found[1] - found[0] == pytest.approx(expected, rel=0.15)
    assert found[0] < cost.mean() < found[1]


def test_a_ratio_is_weighted_and_undefined_without_a_denominator():
    assert ratio([(1, 10), (90, 90)]) == pytest.approx(0.91)
    assert math.isnan(ratio([]))


def test_two_arms_are_compared_pair_by_pair():
    rng = random.Random(2)
    pairs = [(1.2 * (noise := rng.uniform(0.5, 2.0)) * rng.gauss(1, 0.01), noise) for _ in range(60)]
    found = paired_ratio(pairs)
    assert found.low is not None and found.high is not None
    assert found.low < 1.2 < found.high
    assert found.high - found.low < 0.02
    assert paired_ratio(pairs) == found
    assert paired_ratio([(1.0, 2.0)]).low is None
    assert paired_ratio([]).value is None
    with pytest.raises(ValueError, match="above 0"):
        paired_ratio([(1.0, 0.0)])


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=40), st.floats(0.01, 100))
def test_equal_arms_up_to_a_factor_have_exactly_that_ratio(values, factor):
    found = paired_ratio([(value * factor, value) for value in values])
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.value == pytest.approx(factor)
    assert found.low == pytest.approx(factor) and found.high == pytest.approx(factor)


def _pmf(n: int, k: int, share: float) -> float:
    if share <= 0 or share >= 1:
        return float(k == (n if share >= 1 else 0))
    logs = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(logs + k * math.log(share) + (n - k) * math.log1p(-share))
