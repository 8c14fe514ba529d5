"""From the record of decisions to facts: one for each attempt, the closing one with the figures of the whole decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from inference.ledger.breakdown import breakdown_of
from inference.ledger.slices import ids_of, key_of
from inference.metrics.goodput import Targets, meets
from inference.metrics.phases import PARTS, PHASES, Breakdown
from inference.models import Attempt, CheckResult, Decision, DecisionStep, Fact
from inference.states import DecisionStatus

OVERRIDE = "override"  # a person's later correction: no request, so no fact of its own
_COPIED = (
    "input_total", "uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning",
    "cost_amount", "cost_currency",
)  # fmt: skip


class Step(NamedTuple):
    """What of a stage is needed here."""

    stage: str
    seconds: float | None
    created_at: datetime
    slo: Mapping[str, Any] | None  # of the policy, which only the first stage names


def write_facts(decision_ids: Sequence[UUID]) -> list[Fact]:
    """Write the facts of these decisions anew, in place of those that they had. Call it in the tenant's scope."""
    decisions = list(Decision.objects.filter(pk__in=decision_ids).exclude(endpoint=OVERRIDE))
    attempts, steps, schemas = _attempts(decision_ids), _steps(decision_ids), _schemas(decision_ids)
    made = [
        (key_of(decision, attempt), fact)
        for decision in decisions
        for attempt, fact in facts_of(
            decision, attempts[decision.pk], steps[decision.pk], schemas.get(decision.pk, frozenset())
        )
    ]
    slices = ids_of(key for key, _fact in made)
    for key, fact in made:
        fact.slice_id = slices[key]
    Fact.objects.filter(decision__in=decision_ids).delete()
    facts = [fact for _key, fact in made]
    Fact.objects.bulk_create(facts, batch_size=1000)
    return facts


def facts_of(
    decision: Decision,
    attempts: Sequence[Attempt],
    steps: Sequence[Step],
    failed_schemas: frozenset[tuple[int, int]] = frozenset(),
) -> list[tuple[Attempt | None, Fact]]:
    """The facts of one decision with the attempt that each is of, the closing one last."""
    times = breakdown_of(decision, steps, attempts)
    rows: list[Attempt | None] = list(attempts) or [None]
    found = []
    for attempt in rows:
        closing = attempt is rows[-1]
        values = _of_attempt(attempt)
        if closing:
            slo = next((s.slo for s in reversed(steps) if s.slo is not None), None)
            values |= _of_decision(decision, attempts, times, slo, failed_schemas)
        found.append(
            (
                attempt,
                Fact(
                    decision=decision,
                    attempt=attempt,
                    asked_at=decision.created_at,
                    closing=closing,
                    **values,
                ),
            )
        )
    return found


def first_token(attempt: Attempt) -> float | None:
    """Seconds from the gateway's door to the first token: its waiting, then what came after the hand-over."""
    if attempt.ttft is None or attempt.gateway_queue is None:
        return None
    return float(attempt.gateway_queue + attempt.ttft)


def _of_attempt(attempt: Attempt | None) -> dict[str, Any]:
    if attempt is None:
        return {"cost_amount": 0, "cost_state": "current"}
    return {
        **{name: getattr(attempt, name) for name in _COPIED},
        "cost_state": attempt.cost_state or "unknown",
        "ttft": first_token(attempt),
        "tpot": attempt.tpot,
        "estimated": bool(attempt.estimated),
        "usage_refused": bool(attempt.usage_refused),
        "truncated": attempt.finish == "length",
        "broken": attempt.finish in {"abort", "error"},
    }


def _of_decision(
    decision: Decision,
    attempts: Sequence[Attempt],
    times: Breakdown,
    slo: Mapping[str, Any] | None,
    failed_schemas: frozenset[tuple[int, int]],
) -> dict[str, Any]:
    last = attempts[-1] if attempts else None
    return {
        "status": decision.status,
        "valid": decision.valid is True and decision.status == DecisionStatus.ACCEPTED,
        "schema_failed": last is not None and (last.round, last.attempt_no) in failed_schemas,
        "target": target_of(decision, attempts, times, slo),
        **{name: times.part(name) for name in PARTS},
        "e2e": times.e2e,
    }


def target_of(
    decision: Decision, attempts: Sequence[Attempt], times: Breakdown, slo: Mapping[str, Any] | None
) -> str:
    """Whether the service that was promised was given; empty where nothing was sent to a model.

    Only the machine's service counts: how long a person thought is no matter of it, and whether the answer holds is
    counted elsewhere. A failure is a miss; what somebody cancelled is neither.
    """
    if not attempts:
        return ""
    if decision.status == DecisionStatus.CANCELLED:
        return "cancelled"
    last = attempts[-1]
    if decision.status == DecisionStatus.FAILED or last.finish in {"abort", "error"}:
        return "missed"
    own = first_token(last)
    earlier = sum(
        value
        for attempt in attempts[:-1]
        for name in PHASES[:4]
        if (value := getattr(attempt, name)) is not None
    )
    kept = meets(
        targets_of(decision.band, slo or {}),
        ttft=None if own is None else earlier + own,
        tpot=last.tpot,
        e2e=times.model_seconds,
    )
    return "met" if kept else "missed"


def targets_of(band: str, slo: Mapping[str, Any]) -> Targets:
    """What the policy promises in this band: in the background only the window, otherwise every time that it names."""

    def seconds(name: str) -> float | None:
        return None if slo.get(name) is None else slo[name] / 1000

    if band == "batch":
        return Targets(e2e=slo.get("completion_window"))
    return Targets(seconds("ttft_ms"), seconds("tpot_ms"), seconds("e2e_ms"))


def _attempts(ids: Sequence[UUID]) -> dict[UUID, list[Attempt]]:
    """The attempts of each decision, in order; what the gateway kept speaks for one whose caller was gone."""
    by_id: dict[UUID, dict[str, Attempt]] = defaultdict(dict)
    for row in Attempt.objects.filter(decision__in=ids).order_by("attempt_no", "collected", "id"):
        by_id[row.decision_id][row.attempt_id] = row
    found: dict[UUID, list[Attempt]] = defaultdict(list)
    for decision, rows in by_id.items():
        found[decision] = sorted(rows.values(), key=lambda row: (row.attempt_no, row.id))
    return found


def _steps(ids: Sequence[UUID]) -> dict[UUID, list[Step]]:
    rows = (
        DecisionStep.objects.filter(decision__in=ids)
        .order_by("decision", "seq")
        .values_list("decision_id", "stage", "seconds", "created_at", "payload__policy__slo")
    )
    found: dict[UUID, list[Step]] = defaultdict(list)
    for decision, *values in rows:
        found[decision].append(Step(*values))
    return found


def _schemas(ids: Sequence[UUID]) -> dict[UUID, frozenset[tuple[int, int]]]:
    """The tries of each decision whose answer broke the agreed form."""
    found: dict[UUID, set[tuple[int, int]]] = defaultdict(set)
    rows = CheckResult.objects.filter(decision__in=ids, name="schema", passed=False)
    for decision, *tried in rows.values_list("decision_id", "round", "attempt_no"):
        found[decision].add((tried[0], tried[1]))
    return {decision: frozenset(tries) for decision, tries in found.items()}
