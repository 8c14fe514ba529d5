"""Where an answer comes to rest: the state moves, the product is told in the same transaction, and a person's word closes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from inference import bodies, pipeline
from inference.approval import KIND, ask, merged, parameters, resting_state, sources_of
from inference.classify import Classified
from inference.idempotency import IdempotencyMismatch
from inference.live import OnEvent, after_commit
from inference.models import Decision
from inference.permissions import InferenceTag
from inference.registry import TaskSpec, find
from inference.selectors import outcome_of
from inference.states import WAITING, DecisionStatus
from inference.trace import Trace
from inference.types import (
    CheckReport,
    Citation,
    Evidence,
    Outcome,
    Settlement,
    Subject,
    TaskRequest,
    plain,
    text_digest,
)
from nekibu.approvals import registry as approvals
from nekibu.approvals.authority import standing_words
from nekibu.approvals.models import ApprovalRequest, Verdict
from nekibu.audit.record import record
from nekibu.errors import Conflict, InvalidInput
from nekibu.permissions.actor import Actor


def new_row(request: TaskRequest, asked: Classified) -> Decision:
    return Decision(
        endpoint=request.endpoint,
        idempotency_key=request.idempotency_key,
        request_hash=request.content_hash(),
        task=asked.spec.slug,
        task_version=asked.spec.version,
        product=asked.spec.product,
        spec_hash=asked.spec.hash,
        subject_type=asked.subject.type,
        subject_id=asked.subject.id,
        subject_label=asked.subject.label[:200],
        subject_url=asked.subject.url,
        actor={
            "name": request.actor.name,
            "user_id": str(request.actor.user_id) if request.actor.user_id else None,
        },
        correlation=dict(request.correlation),
        mode=request.mode,
        locale=request.locale,
    )


def keep_request(decision: Decision, request: TaskRequest) -> None:
    """Keep what was asked, encrypted, until the decision has been closed for a while."""
    bodies.keep(decision.id, "request", request.to_json())


def settle(
    row: Decision,
    prepared: pipeline.Prepared,
    report: CheckReport | None,
    trace: Trace,
    on_event: OnEvent | None,
) -> Outcome:
    actor, spec, route = prepared.request.actor, prepared.spec, prepared.route
    status, reason = resting_state(report, route, spec)
    if report is not None or row.status != DecisionStatus.PREPARED:
        trace.advance(DecisionStatus.CHECKING, actor)
    value = report.value if report else None
    citations = report.citations if report else ()
    findings = report.findings if report else ()
    approval = None
    if status in WAITING:
        reasons = list(dict.fromkeys([*reason.split(", "), *sorted(prepared.profile.flags)]))
        approval = ask(
            row,
            actor=actor,
            spec=spec,
            subject=prepared.subject,
            reasons=reasons,
            exactly=parameters(
                row,
                spec,
                value=value,
                sources=sources_of(citations),
                versions=_versions(prepared.evidence),
            ),
        )
        trace.step(
            "approve",
            approval_id=approval.id,
            params_hash=approval.params_hash,
            roles=approval.roles,
            reasons=reasons,
        )
    accepted = status == DecisionStatus.ACCEPTED
    trace.rest(
        status,
        actor,
        {"value": value, "citations": citations, "findings": findings},
        note=reason,
        body_days=spec.body_days,
        reason=reason[:200],
        valid=True if accepted else False if status == DecisionStatus.FAILED else None,
        decided_by=("rule" if route.tier == "rules" else "model") if accepted else "",
        approval_id=approval.id if approval else None,
    )
    return tell(row, prepared.request, spec, on_event)


def tell(
    row: Decision,
    request: TaskRequest,
    spec: TaskSpec,
    on_event: OnEvent | None = None,
    *,
    actor: Actor | None = None,
    correction: bool = False,
) -> Outcome:
    outcome = outcome_of(row)
    if spec.on_settled is not None:
        spec.on_settled(
            Settlement(
                outcome=outcome,
                task=spec.slug,
                actor=actor or request.actor,
                subject=request.subject,
                inputs=request.inputs,
                correlation=request.correlation,
                correction=correction,
                supersedes=row.supersedes_id,
            )
        )
    kind = "awaiting_approval" if row.status in WAITING else "done"
    after_commit(
        row.id,
        kind,
        on_event,
        status=row.status,
        valid=row.valid,
        decided_by=row.decided_by,
        reason=row.reason,
    )
    return outcome


def close(row: Decision, status: DecisionStatus, actor: Actor, **changes: Any) -> Outcome:
    """Bring an open decision to a terminal state without an answer of a machine."""
    spec = find(row.task, row.task_version)
    held = bodies.read(row.id, "outcome") or {"value": None, "citations": [], "findings": []}
    Trace(row).rest(
        status, actor, held, note=str(changes.get("reason", "")), body_days=spec.body_days, **changes
    )
    return tell(row, request_of(row), spec, actor=actor)


def request_of(row: Decision) -> TaskRequest:
    stored = bodies.read(row.id, "request")
    if stored is None:
        raise Conflict(_("The request of this decision has been deleted."), decision_id=str(row.id))
    return TaskRequest.from_json(stored)


def register_approvals() -> None:
    """Name what follows a person's word about a decision."""
    approvals.register(
        KIND,
        approvals.Handler(
            on_decided=_on_decided,
            on_expired=_on_expired,
            current=_current,
            amended=_amended,
            ask_again=_ask_again,
            lock=_lock,
        ),
    )


def _lock(waiting: ApprovalRequest) -> None:
    """The decision's row is taken before the request's, as everywhere."""
    Decision.objects.select_for_update().filter(pk=waiting.subject_id).first()


def _current(waiting: ApprovalRequest) -> dict[str, Any] | None:
    """The parameters as they are now: the task as it is registered, the proposal as it is kept, the passages read again."""
    row = Decision.objects.get(pk=waiting.subject_id)
    if row.status not in WAITING:
        return None
    spec, pieces = find(row.task, row.task_version), evidence_of(row)
    held = bodies.read(row.id, "outcome") or {}
    known = {p.id: p for p in pieces}
    sources = []
    for source in sources_of(_citations(held)):
        piece = known.get(source.evidence_id)
        text = spec.reread(piece) if piece is not None else None
        sources.append(replace(source, text_hash=text_digest(text) if text is not None else ""))
    return parameters(row, spec, value=held.get("value"), sources=sources, versions=_versions(pieces))


def _amended(waiting: ApprovalRequest, change: Any) -> dict[str, Any]:
    """The parameters with a person's answer in place of the proposal. Raises InvalidInput for an impossible one."""
    row = Decision.objects.get(pk=waiting.subject_id)
    spec, request = find(row.task, row.task_version), request_of(row)
    value, citations, _valid = weigh(
        row, spec, request, merged(spec, waiting.parameters.get("value"), change)
    )
    return parameters(
        row, spec, value=value, sources=sources_of(citations), versions=_versions(evidence_of(row))
    )


def _ask_again(actor: Actor, old: ApprovalRequest, change: Any) -> ApprovalRequest | None:
    """Put the question anew: with what is true now, or with a person's answer that several have to agree to."""
    row = Decision.objects.select_for_update().get(pk=old.subject_id)
    if row.status not in WAITING:
        return None
    spec, request = find(row.task, row.task_version), request_of(row)
    held = bodies.read(row.id, "outcome") or {}
    editors: list[UUID] = [UUID(one) for one in old.editors]
    if change is not None:
        value, citations, _valid = weigh(row, spec, request, merged(spec, held.get("value"), change))
        editors += [actor.user_id] if actor.user_id and actor.user_id not in editors else []
        bodies.keep(row.id, "outcome", {**held, "value": value, "citations": citations, "edited_by": editors})
    exactly = _current(old)
    if exactly is None:
        return None
    approval = ask(
        row,
        actor=actor,
        spec=spec,
        subject=Subject(
            row.subject_type,
            row.subject_id,
            row.subject_label,
            url=row.subject_url,
            group_key=old.group_key,
            group_title=old.group_title,
        ),
        reasons=list(old.reasons),
        exactly=exactly,
        requester=request.actor,
        supersedes=old,
        editors=editors,
        expires_at=old.expires_at if change is not None else None,
    )
    Decision.objects.filter(pk=row.pk).update(approval_id=approval.id)
    Trace(row).step(
        "approve",
        approval_id=approval.id,
        params_hash=approval.params_hash,
        roles=approval.roles,
        reasons=approval.reasons,
        supersedes=old.id,
        changed_by=actor.name if change is not None else None,
    )
    return approval


def _on_decided(actor: Actor, waiting: ApprovalRequest, word: Verdict) -> None:
    row = Decision.objects.select_for_update().get(pk=waiting.subject_id)
    spec, request = find(row.task, row.task_version), request_of(row)
    held = bodies.read(row.id, "outcome") or {}
    proposal = held.get("value")
    facts: dict[str, Any] = {
        "verdict": word.verdict,
        "reason_code": word.reason_code,
        "by": actor.name,
        "for": word.on_behalf_of.name if word.on_behalf_of else None,
        "approval_id": waiting.id,
        "approvers": [str(w.on_behalf_of_id or w.person_id) for w in standing_words(waiting)],
        "params_hash": word.new_params_hash or waiting.params_hash,
        "changes": [change["path"] for change in word.diff],
    }
    if word.verdict == "reject":
        Trace(row).step("person", **facts)
        close(
            row,
            DecisionStatus.REJECTED,
            actor,
            reason="rejected by a person",
            valid=False,
            decided_by="person",
        )
        return
    if word.verdict == "approve":
        if proposal is None:
            raise InvalidInput(
                errors=[
                    {
                        "field": "verdict",
                        "code": "no_proposal",
                        "message": _("There is no proposal to approve; give an answer."),
                    }
                ]
            )
        value, citations = proposal, held.get("citations", [])
        if waiting.editors:  # a person's answer, to which the others agreed
            value, cited, valid = weigh(row, spec, request, proposal)
            citations, decided_by = plain(cited), "person"
        else:
            valid = row.status == DecisionStatus.AWAITING_APPROVAL
            decided_by = "model" if row.tier != "rules" else "rule"
        changed: list[str] = []
    else:
        value = merged(spec, proposal, word.value)
        value, cited, valid = weigh(row, spec, request, value)
        citations = plain(cited)
        changed = sorted(k for k in value if k not in (proposal or {}) or value[k] != proposal[k])  # type: ignore[index]
        decided_by = "person"
    Trace(row).step("person", **facts, changed=changed, value_valid=valid)
    Trace(row).rest(
        DecisionStatus.ACCEPTED,
        actor,
        {"value": value, "citations": citations, "findings": held.get("findings", [])},
        note=word.verdict,
        body_days=spec.body_days,
        valid=valid,
        decided_by=decided_by,
        reason=row.reason,
    )
    tell(row, request, spec, actor=actor)


def _on_expired(actor: Actor, waiting: ApprovalRequest) -> None:
    row = Decision.objects.select_for_update().get(pk=waiting.subject_id)
    if row.status in WAITING:
        close(row, DecisionStatus.EXPIRED, actor, reason="nobody decided in time", valid=False)


def supersede(old: Decision, actor: Actor, value: Mapping[str, Any], reason: str, key: str) -> Outcome:
    spec, request = find(old.task, old.task_version), request_of(old)
    held = Decision.objects.filter(endpoint="override", idempotency_key=key).first()
    if held is not None:
        if held.supersedes_id != old.id:
            raise IdempotencyMismatch(decision_id=str(held.id))
        return outcome_of(held)
    if Decision.objects.filter(supersedes=old).exists():
        raise Conflict(_("This decision has already been superseded."), decision_id=str(old.id))
    proposal = (bodies.read(old.id, "outcome") or {}).get("value")
    answer, citations, valid = weigh(old, spec, request, merged(spec, proposal, value))
    copied = (
        "request_hash",
        "task",
        "task_version",
        "product",
        "spec_hash",
        "subject_type",
        "subject_id",
        "subject_label",
        "subject_url",
        "correlation",
        "mode",
        "locale",
        "risk",
    )
    new = Decision.objects.create(
        **{name: getattr(old, name) for name in copied},
        endpoint="override",
        idempotency_key=key,
        actor={"name": actor.name, "user_id": str(actor.user_id) if actor.user_id else None},
        supersedes=old,
        tier="person",
        route_reason="override",
    )
    keep_request(new, request)
    record(actor, InferenceTag.DECISION_RECEIVED, new, task=new.task)
    remember_evidence(new, evidence_of(old))
    trace = Trace(new)
    trace.advance(DecisionStatus.PREPARED, actor)
    trace.advance(DecisionStatus.CHECKING, actor)
    changed = sorted(k for k in answer if k not in (proposal or {}) or answer[k] != (proposal or {}).get(k))
    trace.step(
        "person", verdict="override", by=actor.name, changed=changed, supersedes=old.id, value_valid=valid
    )
    trace.rest(
        DecisionStatus.ACCEPTED,
        actor,
        {"value": answer, "citations": citations, "findings": []},
        note="override",
        body_days=spec.body_days,
        valid=valid,
        decided_by="person",
        reason=reason[:200],
    )
    later = Trace(old)
    later.step("corrected", by=actor.name, superseded_by=new.id)
    later.seal()
    record(actor, InferenceTag.DECISION_CORRECTED, old, superseded_by=str(new.id))
    return tell(new, request, spec, actor=actor, correction=True)


def weigh(
    row: Decision, spec: TaskSpec, request: TaskRequest, value: Mapping[str, Any]
) -> tuple[Any, Any, bool]:
    subject = Subject(row.subject_type, row.subject_id, row.subject_label)
    return pipeline.weigh(spec, request, subject, value, evidence_of(row))


def _versions(pieces: Sequence[Evidence]) -> list[tuple[str, str]]:
    return [(p.document_id, p.version_id) for p in pieces]


def _citations(held: Mapping[str, Any]) -> tuple[Citation, ...]:
    return tuple(
        Citation(**{**c, "bbox": tuple(c["bbox"]) if c["bbox"] else None}) for c in held.get("citations", ())
    )


def remember_evidence(row: Decision, pieces: tuple[Evidence, ...]) -> None:
    bodies.keep(row.id, "evidence", {"pieces": [{**plain(p), "text": ""} for p in pieces]})


def evidence_of(row: Decision) -> tuple[Evidence, ...]:
    stored = (bodies.read(row.id, "evidence") or {"pieces": []})["pieces"]
    return tuple(
        Evidence(
            **{
                **raw,
                "bbox": tuple(raw["bbox"]) if raw["bbox"] else None,
                "access_rules": tuple(raw["access_rules"]),
                "findings": tuple(raw["findings"]),
            }
        )
        for raw in stored
    )
