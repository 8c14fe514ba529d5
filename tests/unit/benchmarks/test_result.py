"""The last line is JSON a script can rely on, and an undefined figure never holds."""

from __future__ import annotations

import json
import math

import pytest

from benchmarks.registry import benchmark, known
from benchmarks.result import Result, last_line, measured
from benchmarks.table import results_table


def test_a_target_is_judged() -> None:
    assert measured("a", 0.96, "share", n=3, target=(">=", 0.95)).holds is True
    assert measured("a", 0.94, "share", n=3, target=(">=", 0.95)).holds is False
    assert measured("a", 0, "rows", n=3, target=("==", 0)).holds is True
    assert measured("a", math.nan, "share", n=0, target=("<=", 1)).holds is False
    assert measured("a", 3.5, "s", n=1).holds is None


def test_one_result_is_an_object_and_several_are_a_list() -> None:
    one = measured("hit rate", 0.9612345678, "share", n=120, ci=(0.95, 0.97), target=(">=", 0.95))
    raw = json.loads(last_line([one]))
    assert set(raw) == {"name", "value", "unit", "ci", "n", "target", "holds"}
    assert raw["value"] == 0.961235
    assert raw["ci"] == [0.95, 0.97]
    assert len(json.loads(last_line([one, one]))) == 2


def test_the_table_names_a_missed_target() -> None:
    text = results_table([Result("x", 0.5, "share", None, 4, ">= 0.9", False)])
    assert "MISSED" in text
    assert "0.5" in text


def test_the_benchmarks_of_the_issue_are_registered_under_one_name_each() -> None:
    names = known()
    assert {"prefix_sharing", "evaluation_faults"} <= set(names)
    with pytest.raises(ValueError, match="prefix_sharing"):
        benchmark("prefix_sharing", "again")(lambda options: [])
