"""What travels between the stages: frozen values, and one canonical JSON under every hash."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from inference.slo import Band
from inference.usage import Usage
from inference.wire import Phases
from nekibu.permissions.actor import Actor

Risk = Literal["R0", "R1", "R2", "R3"]
Mode = Literal["auto", "online", "batch"]
Tier = Literal["rules", "economic", "strong", "person"]
Severity = Literal["info", "warn", "escalate", "block"]
CostState = Literal["current", "stale", "unknown"]
DecidedBy = Literal["model", "rule", "person"]
AttemptKind = Literal["primary", "repair", "escalation", "sample"]


def plain(value: Any) -> Any:
    """A value as plain JSON: dataclasses become objects, sets become sorted lists, ids and money become text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(v) for v in value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return value


def canonical(value: Any) -> str:
    """JSON with sorted keys, no blanks and no escapes: equal values give equal bytes."""
    return json.dumps(
        plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


# --- policy ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slo:
    """What a caller may expect in time; milliseconds."""

    band: Band = Band.STANDARD
    ttft_ms: int | None = 10_000
    tpot_ms: int | None = 250
    e2e_ms: int | None = None
    completion_window: int = 4 * 3600  # seconds, for batch
    on_predicted_miss: Literal["demote", "reject", "serve_late"] = "serve_late"
    queue_ttl_ms: int = 30 * 60_000


@dataclass(frozen=True, slots=True)
class Retry:
    """How often one decision may ask: primary, repair and rerun together at most `max_attempts`."""

    max_attempts: int = 2
    repair: Literal[0, 1] = 1
    escalate: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens and money of one decision."""

    max_in: int = 16_000
    max_out: int = 400
    cost_ceiling: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """When a person must agree, who, how many of them, and whether whoever asked may be among them."""

    mode: Literal["never", "on_finding", "always"] = "on_finding"
    groups: tuple[str, ...] = ("reviewer", "recruiter")  # roles, or keys of groups
    expires_in: int | None = None  # seconds
    quorum: int = 1
    four_eyes: bool = False


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """Who may share the engine's prefix tree, and whether an answer may be kept."""

    mode: Literal["isolated", "public", "off"] = "isolated"
    response: bool = False


@dataclass(frozen=True, slots=True)
class ServicePolicy:
    """The service a task is given."""

    slo: Slo = field(default_factory=Slo)
    retry: Retry = field(default_factory=Retry)
    budget: Budget = field(default_factory=Budget)
    approval: Approval = field(default_factory=Approval)
    cache: CachePolicy = field(default_factory=CachePolicy)
    min_source_coverage: Decimal = Decimal(1)
    version: int = 1


# --- request, subject, evidence ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One question to one registered task. There is no field for salt, rid, priority, model or engine parameters."""

    actor: Actor
    task: str
    subject: tuple[str, str]  # type, id
    idempotency_key: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    task_version: int | None = None
    as_of: datetime | None = None
    mode: Mode = "auto"
    deadline_at: datetime | None = None
    locale: str = "tr"
    correlation: Mapping[str, str] = field(default_factory=dict)  # run, node, batch, evaluation …
    endpoint: str = "decide"

    @property
    def tenant_id(self) -> UUID:
        """The tenant is the actor's; nobody asks for another."""
        return self.actor.tenant_id

    def content_hash(self) -> str:
        """What must be equal for the same key to mean the same request; the actor's name and channel do not count."""
        return digest(
            [self.task, self.task_version, self.subject, self.inputs, self.as_of, self.mode, self.endpoint]
        )

    def to_json(self) -> dict[str, Any]:
        """For the encrypted body of a request that waits."""
        value: dict[str, Any] = plain(self)
        return {**value, "actor": self.actor.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TaskRequest:
        """The inverse of `to_json`."""
        return cls(
            **{
                **value,
                "actor": Actor.from_json(value["actor"]),
                "subject": tuple(value["subject"]),
                "as_of": datetime.fromisoformat(value["as_of"]) if value["as_of"] else None,
                "deadline_at": datetime.fromisoformat(value["deadline_at"]) if value["deadline_at"] else None,
            }
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """What a task is about, loaded and authorised by the product. `value` is the product's own frozen value.

    `label` stays in the record for good, so it names the thing and not the person. `group_key` gathers the questions
    to a person about one thing (five criteria of one application) into one entry of the inbox.
    """

    type: str
    id: str
    label: str
    value: Any = None
    ai_opt_out: bool = False
    language: str = "tr"
    flags: frozenset[str] = frozenset()  # hidden_text, injection, contradiction, quality_low, human_only …
    url: str = ""
    group_key: str = ""
    group_title: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of one immutable document version.

    `text` is what a model may see (masked where the product masks); `text_hash` is over the stored, unmasked text of
    the span, which is what is re-read and shown. `id` is given by the retrieval stage: E1, E2, …
    """

    document_id: str
    version_id: str
    start: int
    end: int
    text: str
    text_hash: str
    id: str = ""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    kind: str = "line"
    access_rules: tuple[str, ...] = ()
    parser_id: str = ""
    score: float | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever answers: pieces in document order, and what it noticed."""

    pieces: tuple[Evidence, ...]
    flags: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()  # (document, version)


@dataclass(frozen=True, slots=True)
class RetrievalBudget:
    """How much a retriever may bring."""

    pieces: int = 400
    tokens: int = 12_000


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """Who asks what, what is at stake, and under which policy."""

    task: str
    version: int
    spec_hash: str
    actor_digest: str
    risk: Risk
    reversibility: str
    data_class: str
    trust_class: str
    acl_epoch: str
    policy: ServicePolicy
    language: str
    ai_opt_out: bool
    flags: frozenset[str]
    reasons: tuple[str, ...]


# --- protected fields, compression, context ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProtectedField:
    """An amount, date, rate or identifier that must survive word for word."""

    kind: str
    raw: str
    canonical: str
    evidence_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Removal:
    """What compression took out, and why."""

    evidence_id: str
    start: int
    end: int
    stage: str
    reason: str  # DUP_SPAN, BOILERPLATE, WHITESPACE
    tokens: int
    kept: str = ""  # the surviving twin of a duplicate


@dataclass(frozen=True, slots=True)
class Compressed:
    """The evidence that is sent, what was removed, and whether the result stood its own check."""

    evidence: tuple[Evidence, ...]
    removals: tuple[Removal, ...]
    state: Literal["none", "applied", "refused"]
    fields_before: int
    fields_after: int
    tokens_before: int
    tokens_after: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a task: `static` segments (kind, text) hold nothing of the case; the question comes last."""

    static: tuple[tuple[str, str], ...]
    question: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """One tokenised part of the package."""

    kind: str
    static: bool
    token_ids: tuple[int, ...]
    hash: str
    evidence_id: str = ""

    @property
    def tokens(self) -> int:
        """Its length."""
        return len(self.token_ids)


@dataclass(frozen=True, slots=True)
class ContextPackage:
    """What the engine is given: static first, the document next, the question last; never cut."""

    segments: tuple[Segment, ...]
    prefix_hash: str
    prefix_tokens: int
    share_hash: str
    share_tokens: int
    total_tokens: int
    tokenizer_id: str
    renderer_version: str
    template: str
    stop_token_ids: tuple[int, ...]
    too_large: bool = False
    limit: int = 0

    @property
    def input_ids(self) -> list[int]:
        """All segments, in order."""
        return [token for segment in self.segments for token in segment.token_ids]


@dataclass(frozen=True, slots=True)
class Namespace:
    """Who may share cached tokens: the parts of the salt, never the salt."""

    tenant: str
    trust_class: str
    acl_epoch: str


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The versioned key of the prefix cache; a missing part means no sharing."""

    scheme: str
    kv: Namespace
    mode: Literal["isolated", "off"]
    reasons: tuple[str, ...]


# --- route, schedule, completion ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Route:
    """Which tier answers, and why."""

    tier: Tier
    reason: str
    rule_hits: tuple[str, ...] = ()
    needs_approval: bool = False
    pool: str = "default"
    policy_version: str = "hard-rules-1"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Online or batch, and what the gateway may do with the waiting."""

    clock: Literal["online", "batch"]
    band: Band
    queue_ttl: float
    deadline: float | None
    on_predicted_miss: str
    retries_left: int
    reasons: tuple[str, ...] = ()


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


# --- checks and outcome ------------------------------------------------------------------------------------------


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
