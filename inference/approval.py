"""Stage 11: when a person is needed, what they are shown, and how their word becomes the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from inference.models import Decision
from inference.registry import TaskSpec
from inference.shape import shape_errors
from inference.states import DecisionStatus
from inference.types import CheckReport, Citation, Route, Subject, digest, plain, text_digest
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.services import request_approval
from nekibu.errors import InvalidInput
from nekibu.permissions.actor import Actor

KIND = "inference.decision"


def resting_state(report: CheckReport | None, route: Route, spec: TaskSpec) -> tuple[DecisionStatus, str]:
    """Where an answer comes to rest, and why. `report` is None when no machine answered."""
    if report is None:
        return DecisionStatus.NEEDS_PERSON, route.reason
    codes = ", ".join(dict.fromkeys(f.code for f in report.findings if f.severity in {"escalate", "block"}))
    if report.verdict == "fail":
        return DecisionStatus.FAILED, codes or "the answer breaks the schema"
    if report.verdict != "pass":
        return DecisionStatus.NEEDS_PERSON, codes or {"repairable": "SCHEMA", "truncated": "TRUNCATED"}.get(
            report.verdict, ""
        )
    if route.needs_approval or spec.policy.approval.mode == "always":
        return DecisionStatus.AWAITING_APPROVAL, route.reason
    return DecisionStatus.ACCEPTED, ""


@dataclass(frozen=True, slots=True)
class Source:
    """A cited passage: where it stands in which version, and the hash of its words as they are stored there."""

    evidence_id: str
    document: str
    version: str
    start: int
    end: int
    text_hash: str


def sources_of(citations: Sequence[Citation]) -> tuple[Source, ...]:
    """The passages of an answer, in the order in which they are cited."""
    return tuple(
        Source(c.evidence_id, c.document_id, c.version_id, c.start, c.end, text_digest(c.quote))
        for c in citations
    )


def parameters(
    decision: Decision,
    spec: TaskSpec,
    *,
    value: Mapping[str, Any] | None,
    sources: Sequence[Source],
    versions: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Exactly what a person decides about, and nothing that may differ without mattering; its hash is what they agree to."""
    return {
        "decision_id": str(decision.id),
        "task": spec.slug,
        "task_version": spec.version,
        "spec_hash": spec.hash,
        "subject": [decision.subject_type, decision.subject_id],
        "criterion": decision.correlation.get("criterion", ""),
        "value": plain(value),
        "sources": [plain(source) for source in sources],
        "evidence_versions": sorted([document, version] for document, version in set(versions)),
        "policy": digest(spec.policy),
        "policy_version": spec.policy.version,
    }


def ask(
    decision: Decision,
    *,
    actor: Actor,
    spec: TaskSpec,
    subject: Subject,
    reasons: list[str],
    exactly: dict[str, Any],
    requester: Actor | None = None,
    supersedes: ApprovalRequest | None = None,
    editors: Sequence[UUID] = (),
    expires_at: datetime | None = None,
) -> ApprovalRequest:
    """Ask people about exactly these parameters; a request that is put again may not live longer than `expires_at`."""
    policy = spec.policy.approval
    if expires_at is None and policy.expires_in:
        expires_at = timezone.now() + timedelta(seconds=policy.expires_in)
    return request_approval(
        actor=actor,
        kind=KIND,
        subject_type=KIND,
        subject_id=str(decision.id),
        title=f"{spec.title}: {subject.label}",
        reasons=reasons,
        parameters=exactly,
        roles=list(policy.groups),
        quorum=policy.quorum,
        four_eyes=policy.four_eyes,
        risk=decision.risk,
        url=subject.url or f"/decisions/{decision.id}/",
        group_key=subject.group_key,
        group_title=subject.group_title,
        expires_at=expires_at,
        requester=requester,
        supersedes=supersedes,
        editors=editors,
    )


def merged(spec: TaskSpec, proposal: Mapping[str, Any] | None, change: Any) -> dict[str, Any]:
    """A person's answer: what they changed over what was proposed. Raises InvalidInput for what the schema does not know."""
    if not isinstance(change, Mapping):
        raise InvalidInput(
            errors=[{"field": "value", "code": "type", "message": _("An object is expected.")}]
        )
    value = {**(proposal or {}), **change}
    loose = {k: v for k, v in spec.output_schema.items() if k != "required"}
    errors = [
        {**error, "field": f"value/{error['field']}".rstrip("/")} for error in shape_errors(loose, value)
    ]
    verdict = spec.evidence_rule.verdict if spec.evidence_rule else None
    if verdict and verdict not in value:
        errors.append({"field": f"value/{verdict}", "code": "required", "message": _("A verdict is needed.")})
    if errors:
        raise InvalidInput(errors=errors)
    return value
