"""What is learned of requests that ended."""

from __future__ import annotations

import pytest

from inference.gateway.cost import ENOUGH, CostModel, Ending, Rate, theil_sen


def test_the_line_is_found_and_a_few_wild_ones_do_not_move_it():
    points = [(n, 0.5 + 0.01 * n) for n in range(10, 200, 10)] + [(100, 90.0), (20, 70.0)]
    base, slope = theil_sen(points)
    assert (base, slope) == (pytest.approx(0.5, abs=0.05), pytest.approx(0.01, rel=0.1))


def test_neither_part_of_the_line_is_negative():
    assert theil_sen([(10, 5.0), (20, 1.0)]) == (3.0, 0.0)
    assert theil_sen([(100, 0.0), (200, 10.0)]) == (0.0, 0.1)
    assert theil_sen([]) == (0.0, 0.0)


def test_three_of_four_answers_are_no_longer_than_expected_and_none_than_allowed():
    cost = CostModel()
    assert cost.expected_out("k", 64) == 64
    for out in (10, 20, 30, 40, 50, 60, 70, 80):
        cost.learn("k", Ending(5, out, 0.1, 0.1))
    assert cost.expected_out("k", 1_000) == 70
    assert cost.expected_out("k", 50) == 50
    assert cost.mean_out("k", 1_000) == 45.0


def test_a_task_is_judged_by_its_own_answers_once_there_are_enough():
    cost = CostModel()
    for _ in range(ENOUGH):
        cost.learn("long", Ending(10, 500, 0.1, 0.2))
    for n in range(ENOUGH):
        assert cost.expected_out("short", 1_000) == 500
        cost.learn("short", Ending(10, 5, 0.1, 0.2))
        assert n < ENOUGH
    assert cost.expected_out("short", 1_000) == 5
    assert cost.work("short", 10, 5) == pytest.approx(0.1 + 5 * 0.2)


def test_what_the_engine_did_not_say_is_not_learned():
    cost = CostModel()
    for _ in range(20):
        cost.learn("k", Ending(None, None, 3.0, None))
    assert cost.coefficients() == {"base": 0.0, "input": 0.0, "output": 0.0}


def test_the_rate_counts_whole_spans_with_a_backlog_only():
    rate = Rate(span=1.0)
    for second in range(12):
        rate.did(4.0, second + 0.2)
        rate.did(4.0, second + 0.7)
        if second in {5, 6}:
            rate.idle(second + 0.5)
    assert rate.at(0.5) == rate.at(0.0) == 8.0
    assert Rate().at(0.5) is None
