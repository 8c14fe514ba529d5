"""What products register: task specifications, immutable once registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inference.types import (
    Evidence,
    Finding,
    Prompt,
    RetrievalBudget,
    Retrieved,
    ServicePolicy,
    Settlement,
    Solved,
    Subject,
    TaskRequest,
    Tier,
    digest,
)
from nekibu.errors import NotFound
from nekibu.permissions.actions import Action


class BadSpec(ValueError):
    """A task specification breaks a promise that every task makes."""


class UnknownTask(NotFound):
    """There is no such task."""


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """No evidence, no verdict: which answers need a verified piece, and which must have none.

    `verdict` and `pieces` are keys of the answer; `counter` the key of pieces that speak against it.
    """

    needs: tuple[str, ...]
    without: tuple[str, ...] = ()
    verdict: str = "verdict"
    pieces: str = "pieces"
    counter: str = ""
    counter_conflicts: tuple[str, ...] = ()  # verdicts that a verified counter-piece contradicts


@dataclass(frozen=True, slots=True)
class RuleCase:
    """What a task's own rule may look at. `cited` holds the pieces whose span was re-read and is equal."""

    request: TaskRequest
    subject: Subject
    value: Mapping[str, Any]
    evidence: tuple[Evidence, ...]
    cited: Mapping[str, tuple[Evidence, ...]]  # answer key → verified pieces


@dataclass(frozen=True, slots=True)
class Rule:
    """A deterministic check of one task: returns what it noticed, nothing when it holds."""

    id: str
    check: Callable[[RuleCase], tuple[Finding, ...]]


@dataclass(frozen=True)
class TaskSpec:
    """One kind of question. A change is a new version.

    The callables run in the tenant's scope, inside the transaction of their stage:
    `load` authorises and loads the subject (NotFound for a foreign one) · `retrieve` brings the pieces the actor may read ·
    `reread` gives the stored text of a piece's span at its version, None when it is not readable any more ·
    `solve` may answer without a model · `prompt` gives the words · `on_settled` runs with every move to a resting state.
    """

    slug: str
    version: int
    product: str
    title: str
    permission: Action
    output_schema: Mapping[str, Any]
    load: Callable[[TaskRequest], Subject]
    retrieve: Callable[[TaskRequest, Subject, RetrievalBudget], Retrieved]
    reread: Callable[[Evidence], str | None]
    prompt: Callable[[TaskRequest, Subject], Prompt]
    prompt_version: str
    on_settled: Callable[[Settlement], None] | None = None
    solve: Callable[[TaskRequest, Subject, tuple[Evidence, ...]], Solved | None] | None = None
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    impact: Literal["low", "medium", "high"] = "medium"
    reversibility: Literal["reversible", "compensable", "irreversible"] = "reversible"
    personal_data: bool = False
    adverse_effect_on_person: bool = False
    sources_required: bool = True
    claim_paths: tuple[str, ...] = ()  # JSON Pointers of the arrays of piece ids
    evidence_rule: EvidenceRule | None = None
    free_text_paths: tuple[
        str, ...
    ] = ()  # JSON Pointers of prose: protected echo and protected attributes are checked there
    rules: tuple[Rule, ...] = ()
    compression: Literal["none", "lossless", "select"] = "lossless"
    required_kinds: tuple[str, ...] | None = None  # protected kinds that selection never removes; None: all
    order: Literal["document", "edges"] = "document"  # "edges" where no second question shares the text
    retrieval_budget: RetrievalBudget = field(default_factory=RetrievalBudget)
    policy: ServicePolicy = field(default_factory=ServicePolicy)
    tiers: tuple[Tier, ...] = ("rules", "economic", "person")
    min_tier: Tier = "rules"
    body_days: int = 7

    @property
    def hash(self) -> str:
        """Over everything that makes an answer: schema, policy, prompt version, callables by name."""
        return digest(self)


_specs: dict[tuple[str, int], TaskSpec] = {}


def register(spec: TaskSpec) -> None:
    """Add a task. Raises BadSpec for a second, different spec under one name and version, and for unsafe ones."""
    held = _specs.get((spec.slug, spec.version))
    if held is not None and held.hash != spec.hash:
        raise BadSpec(f"{spec.slug} v{spec.version} is already registered with other contents")
    _refuse_unsafe(spec)
    _specs[spec.slug, spec.version] = spec


def find(slug: str, version: int | None = None) -> TaskSpec:
    """The newest version of a task, or the one asked for."""
    versions = [v for s, v in _specs if s == slug]
    if not versions or (version is not None and version not in versions):
        raise UnknownTask(task=slug, version=version)
    return _specs[slug, version if version is not None else max(versions)]


def registered() -> tuple[TaskSpec, ...]:
    """All specs, by name and version."""
    return tuple(_specs[key] for key in sorted(_specs))


def _refuse_unsafe(spec: TaskSpec) -> None:
    approval = spec.policy.approval.mode
    if spec.adverse_effect_on_person and approval != "always":
        raise BadSpec(f"{spec.slug}: an effect against a person always needs approval")
    if (spec.impact == "high" or spec.reversibility == "irreversible") and approval == "never":
        raise BadSpec(f"{spec.slug}: high impact or an irreversible effect needs an approval rule")
    if approval != "never" and not (spec.policy.approval.groups and spec.policy.approval.quorum >= 1):
        raise BadSpec(f"{spec.slug}: an approval needs somebody who may give it")
    if spec.personal_data and spec.policy.cache.response:
        raise BadSpec(f"{spec.slug}: answers about persons are not cached")
    if spec.min_tier not in spec.tiers:
        raise BadSpec(f"{spec.slug}: min_tier {spec.min_tier} is not among its tiers")
    if not 1 <= spec.policy.retry.max_attempts <= 3:
        raise BadSpec(f"{spec.slug}: one to three attempts")
    if spec.sources_required and not spec.claim_paths:
        raise BadSpec(f"{spec.slug}: sources are required, so claim_paths must say where they are")
    _refuse_unbounded(spec.output_schema, spec.slug)


def _refuse_unbounded(schema: Mapping[str, Any], where: str) -> None:
    kind = schema.get("type")
    kinds = set(kind) if isinstance(kind, list) else {kind}
    closed = "enum" in schema or "const" in schema
    if "string" in kinds and not closed and "maxLength" not in schema:
        raise BadSpec(f"{where}: a string without maxLength")
    if "array" in kinds and "maxItems" not in schema:
        raise BadSpec(f"{where}: an array without maxItems")
    if "object" in kinds and schema.get("additionalProperties") is not False:
        raise BadSpec(f"{where}: an object that allows additional properties")
    for name, part in schema.get("properties", {}).items():
        _refuse_unbounded(part, f"{where}/{name}")
    if isinstance(schema.get("items"), Mapping):
        _refuse_unbounded(schema["items"], f"{where}/items")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, part in enumerate(schema.get(key, ())):
            _refuse_unbounded(part, f"{where}/{key}/{number}")
    for name, part in schema.get("$defs", {}).items():
        _refuse_unbounded(part, f"{where}/$defs/{name}")
