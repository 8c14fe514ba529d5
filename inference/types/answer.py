"""What an attempt brought, what the checks made of it, and what a caller is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from inference.usage import Usage
from inference.wire import Phases
from nekibu.permissions.actor import Actor

Severity = Literal["info", "warn", "escalate", "block"]
CostState = Literal["current", "stale", "unknown"]
DecidedBy = Literal["model", "rule", "person"]
AttemptKind = Literal["primary", "repair", "escalation", "sample"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What one attempt brought: text from a model, or a value from a rule."""

    attempt_id: str
    attempt_no: int
    kind: AttemptKind
    text: str
    finish: Literal["stop", "length", "abort", "error"]
    usage: Usage = field(default_factory=Usage)
    phases: Phases = field(default_factory=Phases)
    ttft: float | None = None
    tpot: float | None = None
    model_revision: str = ""
    engine_fingerprint: str = ""
    salt_id: str = ""
    requeues: int = 0
    max_out: int = 0
    served_from: Literal["engine", "rules"] = "engine"
    cause: str = ""  # why it ended, where finish is abort or error
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Solved:
    """A rule's answer, with the reasons a person can check."""

    value: Mapping[str, Any]
    rule: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check noticed. It is not an exception: it happens every day and a person may have to see it."""

    code: str
    check: str
    severity: Severity
    pointer: str = ""
    evidence_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified source: the span as it was re-read from the stored text at its version."""

    evidence_id: str
    pointer: str  # where in the answer it is cited
    document_id: str
    version_id: str
    start: int
    end: int
    quote: str
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings of one answer, and what follows from them."""

    verdict: Literal["pass", "repairable", "escalate", "fail", "truncated"]
    findings: tuple[Finding, ...]
    value: Mapping[str, Any] | None
    citations: tuple[Citation, ...]
    claims: int
    supported: int
    seconds: float
    ran: tuple[tuple[str, bool], ...] = ()  # check, passed

    @property
    def valid(self) -> bool:
        """Schema, sources and rules all hold."""
        return self.verdict == "pass"


@dataclass(frozen=True, slots=True)
class Cost:
    """Money of a decision. `unknown` where a price or a figure is missing: never zero in its place."""

    amount: Decimal | None
    currency: str
    state: CostState


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a caller is told, now or whenever it asks again."""

    decision_id: UUID
    status: str
    value: Mapping[str, Any] | None
    valid: bool
    decided_by: DecidedBy | None
    citations: tuple[Citation, ...] = ()
    findings: tuple[Finding, ...] = ()
    approval_id: UUID | None = None
    cost: Cost | None = None
    route: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a product's `on_settled` is told, in the transaction that moves the decision to a resting state.

    `status` is accepted, awaiting_approval, needs_person, failed, rejected, expired or cancelled. In awaiting_approval
    and needs_person `value` is a proposal or None; only `accepted` may be shown as a verdict. `correction` is true when a
    person corrected a decision that had been closed (it then is a new decision that supersedes the old one).
    """

    outcome: Outcome
    task: str
    actor: Actor
    subject: tuple[str, str]
    inputs: Mapping[str, Any]
    correlation: Mapping[str, str]
    correction: bool = False
    supersedes: UUID | None = None
