"""The account of one decision: what the API and the trace page show of it, from its append-only record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from inference.ledger.breakdown import breakdown_of
from inference.metrics.phases import BESIDE, PHASES, Breakdown
from inference.models import Attempt, CheckResult, Decision, DecisionStep
from inference.selectors import outcome_of, speaking_attempts
from inference.types import Outcome
from nekibu.approvals.models import ApprovalRequest

TOKENS = ("uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of all attempts together; None where one of them did not report the figure."""

    uncached: int | None
    cache_read: int | None
    cache_write_5m: int | None
    cache_write_1h: int | None
    output: int | None
    reasoning: int | None
    input_total: int | None

    @property
    def cached_share(self) -> float | None:
        """Read from the cache, by tokens, of all input tokens."""
        if self.cache_read is None or not self.input_total:
            return None
        return self.cache_read / self.input_total


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that is known of a decision, in the order in which it happened."""

    decision: Decision
    outcome: Outcome
    stages: dict[str, DecisionStep]  # the newest try's stages before the model, by name
    steps: tuple[DecisionStep, ...]
    attempts: tuple[Attempt, ...]
    checks: tuple[CheckResult, ...]
    breakdown: Breakdown
    tokens: Tokens
    approval: ApprovalRequest | None
    supersedes: Decision | None
    superseded_by: Decision | None
    rounds: int
    sealed: tuple[tuple[int, str, datetime], ...]

    @property
    def phases(self) -> tuple[tuple[str, float | None], ...]:
        """The six phases in seconds."""
        return tuple((name, self.breakdown.phases[name]) for name in PHASES)

    def payload(self, stage: str) -> dict[str, Any]:
        """What a stage recorded; empty when it did not run."""
        step = self.stages.get(stage)
        return step.payload if step else {}


def account_of(decision: Decision) -> Account:
    """Read the whole record of a decision in the tenant's scope."""
    steps = tuple(decision.steps.order_by("seq"))
    newest = max((s.round for s in steps if s.stage == "classify"), default=0)
    attempts = speaking_attempts(decision)
    approval = None
    if decision.approval_id:
        approval = (
            ApprovalRequest.objects.prefetch_related("verdicts__person")
            .filter(pk=decision.approval_id)
            .first()
        )
    return Account(
        decision=decision,
        outcome=outcome_of(decision),
        stages={s.stage: s for s in steps if s.round == newest and s.stage not in {"generate", "checks"}},
        steps=steps,
        attempts=attempts,
        checks=tuple(decision.checks.order_by("seq")),
        breakdown=breakdown_of(decision, steps, attempts),
        tokens=Tokens(*(_sum(getattr(a, name) for a in attempts) for name in (*TOKENS, "input_total"))),
        approval=approval,
        supersedes=decision.supersedes,
        superseded_by=decision.superseded_by.order_by("id").first(),
        rounds=decision.round,
        sealed=tuple(decision.seals.order_by("seq").values_list("seq", "hash", "created_at")),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    total: int | None = None
    for value in values:
        if value is None:
            return None
        total = value + (total or 0)
    return total


def outcome_json(account: Account) -> dict[str, Any]:
    """A decision as the API tells it; money and seconds are text, an absent figure is null."""
    decision, outcome = account.decision, account.outcome
    return {
        "decision_id": str(decision.id),
        "task": decision.task,
        "task_version": decision.task_version,
        "status": decision.status,
        "valid": decision.valid,
        "decided_by": outcome.decided_by,
        "reason": decision.reason,
        "risk": decision.risk,
        "subject": {"type": decision.subject_type, "id": decision.subject_id},
        "correlation": decision.correlation,
        "value": outcome.value,
        "citations": [
            {
                "evidence_id": c.evidence_id,
                "pointer": c.pointer,
                "document_id": c.document_id,
                "version_id": c.version_id,
                "start": c.start,
                "end": c.end,
                "page": c.page,
                "quote": c.quote,
            }
            for c in outcome.citations
        ],
        "findings": [
            {
                "code": f.code,
                "check": f.check,
                "severity": f.severity,
                "pointer": f.pointer,
                "evidence_id": f.evidence_id,
            }
            for f in outcome.findings
        ],
        "route": {
            "tier": decision.tier,
            "reason": decision.route_reason,
            "clock": decision.clock,
            "band": decision.band,
            "model": next((a.model for a in reversed(account.attempts) if a.model), None),
            "revision": next(
                (a.model_revision for a in reversed(account.attempts) if a.model_revision), None
            ),
        },
        "usage": {name: getattr(account.tokens, name) for name in TOKENS},
        "phases": {name: _text(value) for name, value in account.phases},
        "times": {
            "e2e": _text(account.breakdown.e2e),
            "model": _text(account.breakdown.model_seconds),
            **{name: _text(account.breakdown.part(name)) for name in BESIDE},
        },
        "cost": {
            "amount": None if decision.cost_amount is None else format(decision.cost_amount.normalize(), "f"),
            "currency": decision.cost_currency,
            "state": decision.cost_state or "unknown",
            "price_version": decision.price_version,
        },
        "approval_id": str(decision.approval_id) if decision.approval_id else None,
        "supersedes": str(decision.supersedes_id) if decision.supersedes_id else None,
        "superseded_by": str(account.superseded_by.id) if account.superseded_by else None,
        "created_at": decision.created_at.isoformat(),
        "closed_at": decision.closed_at.isoformat() if decision.closed_at else None,
    }


def trace_json(account: Account) -> dict[str, Any]:
    """The whole record: the outcome, every stage, attempt, check and seal."""
    attempts = [
        {
            **{
                name: getattr(a, name)
                for name in (
                    "attempt_id",
                    "attempt_no",
                    "round",
                    "kind",
                    "collected",
                    "finish",
                    "cause",
                    "served_from",
                    *TOKENS,
                    "input_total",
                    "dialect",
                    "estimated",
                    "usage_refused",
                    "prompt_tokens",
                    "requeues",
                    "max_out",
                    "engine",
                    "model",
                    "model_revision",
                    "engine_fingerprint",
                    "salt_id",
                    "price_version",
                    "cost_currency",
                    "cost_state",
                )
            },
            "phases": {name: _text(getattr(a, name)) for name in PHASES[:4]},
            "ttft": _text(a.ttft),
            "tpot": _text(a.tpot),
            "cost_amount": None if a.cost_amount is None else format(a.cost_amount.normalize(), "f"),
        }
        for a in account.attempts
    ]
    return {
        **outcome_json(account),
        "rounds": account.rounds,
        "steps": [
            {
                "seq": s.seq,
                "round": s.round,
                "stage": s.stage,
                "seconds": _text(s.seconds),
                "at": s.created_at,
                **{"payload": s.payload},
            }
            for s in account.steps
        ],
        "attempts": attempts,
        "checks": [
            {
                "seq": c.seq,
                "attempt_no": c.attempt_no,
                "name": c.name,
                "passed": c.passed,
                "findings": c.findings,
            }
            for c in account.checks
        ],
        "seals": [{"seq": seq, "hash": value, "at": at} for seq, value, at in account.sealed],
    }


def _text(value: float | None) -> str | None:
    return None if value is None else format(Decimal(str(round(value, 6))).normalize(), "f")
