"""Intervals contain what they must, and no arm is favoured by its place in time."""

from __future__ import annotations

import math
import random

import pytest

from benchmarks.statistics import at_least, bootstrap, interleaved, percentile, ratio


def test_the_interval_of_a_mean_contains_it_and_narrows_with_more_cases() -> None:
    rng = random.Random(1)
    few = [rng.gauss(10, 2) for _ in range(20)]
    many = [rng.gauss(10, 2) for _ in range(500)]

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    low, high = bootstrap(few, mean) or (0, 0)
    assert low < mean(few) < high
    narrow = bootstrap(many, mean) or (0, 0)
    assert narrow[1] - narrow[0] < (high - low) / 2
    assert bootstrap(few, mean) == (low, high)


def test_one_case_has_no_interval() -> None:
    assert bootstrap([3.0], lambda values: values[0]) is None


def test_a_ratio_is_weighted_and_undefined_without_a_denominator() -> None:
    assert ratio([(1, 10), (90, 90)]) == pytest.approx(0.91)
    assert math.isnan(ratio([]))


def test_percentiles_interpolate() -> None:
    assert [percentile([1.0, 2.0, 3.0], share) for share in (0, 0.5, 0.75, 1)] == [1.0, 2.0, 2.5, 3.0]


def test_the_lower_bound_of_a_rate_is_the_exact_one() -> None:
    assert at_least(40, 40) == pytest.approx(0.05 ** (1 / 40), abs=1e-9)
    assert at_least(0, 5) == 0.0
    assert at_least(39, 40) < at_least(40, 40)
    with pytest.raises(ValueError, match="between"):
        at_least(3, 2)


def test_each_round_has_every_arm_once_and_orders_differ() -> None:
    runs = list(interleaved(["a", "b", "c"], 30))
    rounds = [[arm for number, arm in runs if number == r] for r in range(30)]
    assert all(sorted(arms) == ["a", "b", "c"] for arms in rounds)
    assert len({tuple(arms) for arms in rounds}) > 3
