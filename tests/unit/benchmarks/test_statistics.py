"""No arm is favoured by its place in time."""

from __future__ import annotations

from benchmarks import statistics
from benchmarks.statistics import interleaved
from inference.metrics import stats


def test_each_round_has_every_arm_once_and_orders_differ() -> None:
    runs = list(interleaved(["a", "b", "c"], 30))
    rounds = [[arm for number, arm in runs if number == r] for r in range(30)]
    assert all(sorted(arms) == ["a", "b", "c"] for arms in rounds)
    assert len({tuple(arms) for arms in rounds}) > 3


def test_a_benchmark_counts_as_the_product_does() -> None:
    for name in ("at_least", "bootstrap", "paired_ratio", "percentile", "quantile", "ratio"):
        assert getattr(statistics, name) is getattr(stats, name)
