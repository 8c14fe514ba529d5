"""Traces become calls in the engine's order, and the ceiling counts what was there before and what nobody stored."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.prefix_sharing import calls_of, ceiling_of, unsupported, whole
from benchmarks.replay import NotTheSame, Prompt
from inference.metrics.prefixes import Share

STAGES = ("classify", "retrieve", "protect", "compress", "assemble", "key", "route", "schedule")


def trace(
    decision: str, at: str, waited: str, cached: int, uncached: int | None, cv: str = "cv"
) -> dict[str, Any]:
    steps = [{"stage": name, "payload": {}, "at": at} for name in (*STAGES, "rest")]
    steps.append({"stage": "generate", "payload": {"attempt_id": f"a-{decision}"}, "at": at})
    attempt = {
        "attempt_id": f"a-{decision}", "attempt_no": 1, "kind": "primary", "uncached": uncached, "cache_read": cached,
        "output": 5, "phases": {"gateway_queue": waited},
    }  # fmt: skip
    return {
        "decision_id": decision, "subject": {"type": "ats.application", "id": cv}, "correlation": {"criterion": decision},
        "steps": steps, "attempts": [attempt], "route": {"tier": "economic"},
    }  # fmt: skip


def prompt(question: int) -> Prompt:
    return Prompt((1, 2, 3), (4, 5), (question,), (0,))


def test_calls_stand_in_the_order_in_which_the_engine_got_them() -> None:
    late = trace("late", "2026-11-30T10:00:00+00:00", "9", 0, 6)
    early = trace("early", "2026-11-30T10:00:05+00:00", "1", 4, 2)
    assert [call.decision for call in calls_of([late, early])] == ["early", "late"]
    assert [call.input_tokens for call in calls_of([late, early])] == [6, 6]


def test_a_figure_that_was_not_reported_is_no_zero() -> None:
    with pytest.raises(RuntimeError, match="no tokens"):
        calls_of([trace("d", "2026-11-30T10:00:00+00:00", "0", 0, None)])


def test_the_ceiling_starts_with_what_the_engine_held_before() -> None:
    cold = calls_of(
        [
            trace("a", "2026-11-30T10:00:00+00:00", "0", 0, 6),
            trace("b", "2026-11-30T10:00:01+00:00", "0", 5, 1),
        ]
    )
    prompts = {"a": prompt(7), "b": prompt(8)}
    assert ceiling_of(cold, prompts) == [Share(6, 0), Share(6, 5)]
    warm = calls_of(
        [
            trace("a", "2026-11-30T10:00:00+00:00", "0", 2, 4),
            trace("b", "2026-11-30T10:00:01+00:00", "0", 5, 1),
        ]
    )
    assert ceiling_of(warm, prompts) == [Share(6, 2), Share(6, 5)]


def test_a_repair_is_longer_than_its_prompt_and_a_shorter_reading_is_refused() -> None:
    longer = calls_of(
        [
            trace("a", "2026-11-30T10:00:00+00:00", "0", 0, 6),
            trace("b", "2026-11-30T10:00:01+00:00", "0", 6, 3),
        ]
    )
    assert ceiling_of(longer, {"a": prompt(7), "b": prompt(7)})[1] == Share(9, 6)
    shorter = calls_of([trace("a", "2026-11-30T10:00:00+00:00", "0", 0, 4)])
    with pytest.raises(NotTheSame):
        ceiling_of(shorter, {"a": prompt(7)})


def test_a_verdict_needs_evidence_or_a_person() -> None:
    rows = [
        {"state": "verified", "verdict": "met", "evidence": [{}]},
        {"state": "verified", "verdict": "not_stated", "evidence": []},
        {"state": "needs_person", "verdict": "", "evidence": []},
    ]
    assert unsupported(rows) == 0
    assert unsupported([*rows, {"state": "verified", "verdict": "met", "evidence": []}]) == 1


def test_a_trace_without_a_stage_or_an_end_is_not_whole() -> None:
    good = trace("a", "2026-11-30T10:00:00+00:00", "0", 0, 6)
    assert whole(good)
    for missing in ("route", "rest"):
        assert not whole({**good, "steps": [s for s in good["steps"] if s["stage"] != missing]})
    assert not whole({**good, "attempts": []})
    assert whole({**good, "attempts": [], "route": {"tier": "person"}})
