"""The inspection finds each way in which a batch can be wrong, and nothing in a right one."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.evaluation_faults import inspect

APPLICATIONS = ("a1", "a2")


def batch() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    evaluations, decisions = [], []
    for application in APPLICATIONS:
        verdicts = []
        for criterion in ("c1", "c2"):
            decision = f"{application}-{criterion}"
            verdicts.append({"criterion": criterion, "decision_id": decision, "state": "verified"})
            decisions.append(
                {
                    "decision_id": decision,
                    "correlation": {"evaluation": f"e-{application}", "criterion": criterion},
                }
            )
        evaluations.append(
            {"application": application, "current": True, "status": "completed", "verdicts": verdicts}
        )
    return evaluations, decisions


def test_a_right_batch_has_nothing_lost_doubled_or_open() -> None:
    assert inspect(APPLICATIONS, *batch()) == (0, 0, 0)


def _drop_evaluation(e: list[Any], d: list[Any]) -> None:
    e.pop()


def _second_evaluation(e: list[Any], d: list[Any]) -> None:
    e.append({**e[0], "current": False, "verdicts": []})


def _second_verdict(e: list[Any], d: list[Any]) -> None:
    e[0]["verdicts"].append({**e[0]["verdicts"][0], "decision_id": None, "state": "verified"})


def _second_decision(e: list[Any], d: list[Any]) -> None:
    d.append({**d[0], "decision_id": "again"})


def _verdict_without_decision(e: list[Any], d: list[Any]) -> None:
    e[0]["verdicts"][0]["decision_id"] = None


def _failed(e: list[Any], d: list[Any]) -> None:
    e[0]["verdicts"][0]["state"] = "failed"


def _decision_gone(e: list[Any], d: list[Any]) -> None:
    d.pop()


def _waiting(e: list[Any], d: list[Any]) -> None:
    e[1]["verdicts"][1]["state"] = "waiting"


def _running(e: list[Any], d: list[Any]) -> None:
    e[1]["status"] = "running"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_drop_evaluation, (1, 0, 0)),
        (_second_evaluation, (0, 1, 0)),
        (_second_verdict, (1, 1, 0)),
        (_second_decision, (0, 1, 0)),
        (_verdict_without_decision, (1, 0, 0)),
        (_failed, (1, 0, 0)),
        (_decision_gone, (1, 0, 0)),
        (_waiting, (0, 0, 1)),
        (_running, (0, 0, 1)),
    ],
)
def test_each_fault_is_found(spoil: Any, expected: tuple[int, int, int]) -> None:
    evaluations, decisions = batch()
    spoil(evaluations, decisions)
    assert inspect(APPLICATIONS, evaluations, decisions) == expected
