"""A histogram keeps percentiles within its stated error, merges without loss and says its bucket where it is coarse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.histogram import LOG_LINEAR, Histogram, merged, worst_error
from inference.metrics.stats import quantile
from inference.slo import CLASSES, DEV_TPOT_MS, DEV_TTFT_MS
from tests.cases import case

SAMPLES = st.lists(st.floats(1e-5, 1e5), min_size=1, max_size=300)
COARSE = (1_000.0, 2_000.0, 5_000.0, 10_000.0)


@case("ACC-45")
def test_an_interpolated_figure_shows_its_bucket(row):
    """Every prompt has 5,001 tokens; coarse buckets know no more than where it lies."""
    coarse = Histogram.of([5001.0] * 100, COARSE).quantile(0.5)
    assert (coarse.value, coarse.bucket) == (None, (5000.0, 10000.0))
    assert coarse.error == pytest.approx(0.5)
    fine = Histogram.of([5001.0] * 100).quantile(0.5)
    assert fine.value == pytest.approx(5001, rel=0.02)
    assert quantile([5001.0] * 100, 0.5).value == 5001


@case("ACC-45")
def test_attainment_can_be_read_only_where_the_target_is_a_bucket_edge(row):
    coarse = Histogram.of([1500.0] * 60 + [4000.0] * 40, COARSE)
    assert coarse.at_most(2000) == (60, 60)
    assert coarse.at_most(3000) == (60, 100)
    assert coarse.at_most(20_000) == (100, 100)


@case("ACC-44")
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_shards_of_buckets_are_merged_by_their_counts(share, row):
    """900 at 100 ms and 100 at 1,000 ms."""
    one, two = Histogram.of([0.1] * 900), Histogram.of([1.0] * 100)
    found = one.merge(two).quantile(share)
    assert found.value == pytest.approx(0.1 if share == 0.5 else 1.0, rel=0.02)
    assert found.n == 1000


def test_the_shipped_buckets_are_within_two_percent_and_hold_every_service_target_as_an_edge():
    assert worst_error() <= 0.01251
    assert list(LOG_LINEAR) == sorted(set(LOG_LINEAR))
    targets = [c.ttft_ms for c in CLASSES.values()] + [c.tpot_ms for c in CLASSES.values()]
    targets += [c.e2e_ms for c in CLASSES.values()] + [DEV_TTFT_MS, DEV_TPOT_MS]
    presets = [2000, 100, 500, 30, 200, 450, 40, 6000, 175, 4500, 80, 1500, 15, 3000, 20]
    for target in [t for t in targets if t] + presets:
        assert target / 1000 in LOG_LINEAR, target


@given(SAMPLES, st.sampled_from([0.5, 0.9, 0.95]))
def test_a_percentile_is_within_the_stated_error_of_the_raw_one(samples, share):
    raw, read = quantile(samples, share), Histogram.of(samples).quantile(share)
    assert (read.n, read.needed, read.enough) == (raw.n, raw.needed, raw.enough)
    if raw.value is None:
        assert read.value is None and read.bucket is None
        return
    low, high = read.bucket
    assert low <= raw.value <= high
    assert abs(read.value - raw.value) <= read.error * raw.value * (1 + 1e-9)
    assert read.low <= raw.low and read.high >= raw.high


@given(st.lists(SAMPLES, min_size=1, max_size=5), st.randoms())
def test_merging_in_any_order_equals_counting_all_at_once(shards, rng):
    whole = Histogram.of([value for shard in shards for value in shard])
    parts = [Histogram.of(shard) for shard in shards]
    rng.shuffle(parts)
    assert merged(parts).counts == whole.counts
    assert Histogram.from_json(merged(parts).to_json()).counts == whole.counts


@given(SAMPLES, st.sampled_from(LOG_LINEAR[1:]))
def test_a_target_on_an_edge_is_counted_exactly(samples, target):
    held = sum(value <= target for value in samples)
    assert Histogram.of(samples).at_most(target) == (held, held)


def test_what_is_not_observed_is_no_sample_and_zero_is_one():
    found = Histogram.of([0.0, np.nan, 0.0, 5.0])
    assert found.n == 3
    assert found.at_most(0.0) == (2, 2)
    assert Histogram.of([0.0] * 5).quantile(0.5).value == 0.0
    assert merged([]).n == 0
    assert not Histogram().quantile(0.5).enough
    above = Histogram.of([1e9] * 5).quantile(0.5)
    assert (above.value, above.bucket) == (None, (1e6, np.inf))


def test_histograms_of_different_edges_do_not_merge():
    with pytest.raises(ValueError, match="different edges"):
        Histogram.of([1.0]).merge(Histogram.of([1.0], COARSE))
