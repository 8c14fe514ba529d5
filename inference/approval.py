"""Stage 11: when a person is needed, what they are shown, and how their word becomes the answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from inference.models import Decision
from inference.registry import TaskSpec
from inference.shape import shape_errors
from inference.states import DecisionStatus
from inference.types import CheckReport, Citation, Route, Subject, plain
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


def ask(
    decision: Decision,
    *,
    actor: Actor,
    spec: TaskSpec,
    subject: Subject,
    reasons: list[str],
    value: Mapping[str, Any] | None,
    citations: tuple[Citation, ...],
) -> Any:
    """Ask people about exactly this: the proposal if there is one, its sources by place and version, and the reasons."""
    parameters = {
        "decision_id": str(decision.id),
        "task": spec.slug,
        "task_version": spec.version,
        "spec_hash": decision.spec_hash,
        "subject": [decision.subject_type, decision.subject_id],
        "criterion": decision.correlation.get("criterion", ""),
        "value": plain(value),
        "sources": [
            {
                "evidence_id": c.evidence_id,
                "document": c.document_id,
                "version": c.version_id,
                "start": c.start,
                "end": c.end,
            }
            for c in citations
        ],
        "policy_version": spec.policy.version,
    }
    expires = spec.policy.approval.expires_in
    return request_approval(
        actor=actor,
        kind=KIND,
        subject_type=KIND,
        subject_id=str(decision.id),
        title=f"{spec.title}: {subject.label}",
        reasons=reasons,
        parameters=parameters,
        roles=list(spec.policy.approval.groups),
        url=subject.url or f"/decisions/{decision.id}/",
        group_key=subject.group_key,
        group_title=subject.group_title,
        expires_at=timezone.now() + timedelta(seconds=expires) if expires else None,
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
