"""The inspection finds each way in which a batch or its account can be wrong, and nothing in a right one."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.batch_faults import Inspection, balanced, inspect, questions, speaking

NAMES = ("a", "b", "c")


def batch() -> dict[str, list[dict[str, Any]]]:
    return {
        "output": [{"custom_id": "a"}, {"custom_id": "b"}],
        "errors": [{"custom_id": "c"}],
        "items": [{"custom_id": name, "status": "done"} for name in NAMES],
        "decisions": [{"correlation": {"custom_id": name}, "status": "accepted"} for name in NAMES],
    }


def test_a_right_batch_has_nothing_lost_doubled_or_open() -> None:
    assert inspect(NAMES, **batch()) == Inspection(asked=3, lost=0, doubled=0, unanswered=1, open=0)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda b: b["output"].pop(), {"lost": 1}),
        (lambda b: b["items"].pop(), {"lost": 1}),
        (lambda b: b["errors"].append({"custom_id": "a"}), {"doubled": 1}),
        (lambda b: b["output"].append({"custom_id": "z"}), {"doubled": 1}),
        (lambda b: b["items"].append(b["items"][0]), {"doubled": 1}),
        (lambda b: b["decisions"].append(b["decisions"][0]), {"doubled": 1}),
        (lambda b: b["items"][0].update(status="leased"), {"open": 1}),
        (lambda b: b["decisions"][0].update(status="running"), {"open": 1}),
    ],
)
def test_each_fault_is_counted(spoil: Any, what: dict[str, int]) -> None:
    spoilt = batch()
    spoil(spoilt)
    found = inspect(NAMES, **spoilt)
    assert {name: getattr(found, name) for name in ("lost", "doubled", "open")} == {
        "lost": 0, "doubled": 0, "open": 0, **what,
    }  # fmt: skip


def attempt(
    prompt: int, cached: int, output: int | None, finish: str = "stop", **more: Any
) -> dict[str, Any]:
    uncached = None if output is None else prompt - cached
    row = {"attempt_id": "x", "collected": False, "finish": finish, "uncached": uncached}
    return {**row, "cache_read": None if output is None else cached, "output": output, **more}


def request(prompt: int, cached: int, output: int, finish: str = "stop") -> dict[str, Any]:
    return {"prompt": prompt, "cached": cached, "output": output, "finish": finish}


def test_equal_accounts_balance() -> None:
    found = balanced(
        [attempt(500, 0, 40), attempt(500, 499, 40)], [request(500, 499, 40), request(500, 0, 40)]
    )
    assert (found.foreign, found.beyond, found.unknown) == (0, 0, 0)
    assert found.ours == found.theirs == (1000, 499, 80)


def test_what_was_aborted_may_have_been_heard_less_of() -> None:
    cut = attempt(500, 0, 32, "abort")
    assert balanced([cut], [request(500, 0, 40)]).foreign == 0
    assert balanced([cut], [request(500, 0, 32, "abort")]).beyond == 0
    more = balanced([cut], [request(500, 0, 24, "abort")])
    assert (more.foreign, more.beyond) == (1, 1)


def test_figures_that_the_engine_did_not_count_and_requests_without_an_attempt_are_found() -> None:
    found = balanced([attempt(500, 0, 41), attempt(500, 0, None, "error")], [request(500, 0, 40)])
    assert (found.foreign, found.beyond, found.unknown) == (1, 1, 1)


def test_what_the_gateway_kept_speaks_for_an_attempt() -> None:
    rows = [
        attempt(1, 0, None, "error"),
        attempt(1, 0, 5, "abort", collected=True),
        attempt(1, 0, 9, attempt_id="y"),
    ]
    assert [r["output"] for r in speaking(rows)] == [5, 9]


def test_every_question_has_a_name_of_its_own() -> None:
    asked = questions(45)
    assert len({q["custom_id"] for q in asked}) == 45
    assert {q["body"]["subject"]["id"] for q in asked} == {"0", "1", "2"}
