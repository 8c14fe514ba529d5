"""One tenant with a row behind every address: each text carries the tenant's mark, so that a leak can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.apps import apps
from django.utils import timezone

from ats.models import (
    Application,
    Candidate,
    Criterion,
    CriterionVerdict,
    CVDocument,
    Evaluation,
    EvaluationRun,
    Job,
    RubricVersion,
)
from ats.states import CVStatus, EvaluationStatus, RubricStatus, VerdictState
from inference import bodies
from inference.ledger import keeping
from inference.models import (
    Attempt,
    Batch,
    BatchFile,
    BatchItem,
    BatchShare,
    Behaviour,
    CheckResult,
    Decision,
    DecisionStep,
    PrefixChain,
    Price,
    Verification,
)
from inference.types import TaskRequest
from inference.web.words import ITEM_CAUSES
from nekibu.approvals.models import ApprovalRequest, Delegation, Group, GroupMember, Notice, Stop, Verdict
from nekibu.approvals.services import request_approval, withdraw
from nekibu.approvals.states import NoticeKind
from nekibu.files import services as files
from nekibu.files.models import ParsedText
from nekibu.ids import new_id
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import ROLES
from nekibu.tenants.models import Tenant, TenantModel
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import add_member


@dataclass(frozen=True, slots=True)
class World:
    """A tenant's rows: `ids` has one object for each kwarg of an address, `all_ids` every row's id."""

    tenant: Tenant
    mark: str
    ids: dict[str, UUID]
    all_ids: frozenset[str]


def build(tenant: Tenant, person: User, *, rows: int = 2) -> World:
    """`rows` of everything that can be many, in one job."""
    mark = f"mark-of-{tenant.slug}"
    actor = Actor.system(tenant.id, "test")
    with tenant_scope(tenant.id):
        jobs = [
            Job.objects.create(title_tr=f"{mark} iş {n}", title_en=f"{mark} job {n}") for n in range(rows)
        ]
        job = jobs[0]
        rubric = RubricVersion.objects.create(
            job=job, version=1, status=RubricStatus.APPROVED, approved_by=person, approved_at=timezone.now()
        )
        draft = next(iter([RubricVersion.objects.create(job=job, version=n + 2) for n in range(rows)]))
        criteria = [_criterion(version, n, mark) for version in (rubric, draft) for n in range(rows)][:rows]
        runs = [
            EvaluationRun.objects.create(job=job, rubric=rubric, clock="batch", requested_by=person)
            for _ in range(rows)
        ]
        made = [_application(actor, mark, job, rubric, runs[0], criteria, n, person) for n in range(rows)]
        inbox = _inbox(actor, mark, person, rows)
        catalogue = _catalogue(mark, person, rows)
        batches = _batches(actor, mark, [one[3] for one in made])
        keeping.all_due()
        while keeping.keep_up():
            pass
        keeping.sum_up(timezone.localdate())
    application, evaluation, verdict, decision, approval = made[0]
    return World(
        tenant,
        mark,
        {
            "job_id": job.id,
            "rubric_id": draft.id,
            "run_id": runs[0].id,
            "application_id": application.id,
            "evaluation_id": evaluation.id,
            "verdict_id": verdict.id,
            "decision_id": decision.id,
            "approval_id": approval.id,
            **inbox,
            **catalogue,
            **batches,
        },
        frozenset(str(row["id"]) for table in rows_of(tenant).values() for row in table),
    )


def rows_of(tenant: Tenant) -> dict[str, list[dict[str, Any]]]:
    """Every row of a tenant, by table: what an act of another tenant must leave as it is."""
    with tenant_scope(tenant.id):
        models = [m for m in apps.get_models() if issubclass(m, TenantModel)]
        return {m._meta.db_table: list(m.objects.order_by("id").values()) for m in models}


def _inbox(actor: Actor, mark: str, person: User, rows: int) -> dict[str, UUID]:
    """What stands around the questions: words, what was decided, who stands in for whom, groups, notices, switches."""
    now = timezone.now()
    colleagues = [
        User.objects.create_user(f"colleague-{n}@{mark}.example", f"{mark} colleague {n}", None)
        for n in range(rows)
    ]
    for colleague in colleagues:
        add_member(actor=actor, user=colleague, role="reviewer")
    for request in ApprovalRequest.objects.all():
        Verdict.objects.create(
            request=request,
            verdict="approve",
            reason="seen",
            params_hash=request.params_hash,
            person=colleagues[0],
        )
    for n, colleague in enumerate(colleagues):
        past = request_approval(
            actor=actor,
            kind="inference.decision",
            subject_type="inference.decision",
            subject_id=str(uuid4()),
            title=f"{mark} past question {n}",
            reasons=[],
            parameters={"n": n},
            roles=["reviewer"],
        )
        Verdict.objects.create(
            request=past,
            verdict="reject",
            reason="seen",
            params_hash=past.params_hash,
            person=colleague,
            on_behalf_of=person,
        )
        withdraw(actor=actor, kind=past.kind, subject_id=past.subject_id, note="test")
        Notice.objects.create(
            person=person, kind=NoticeKind.SPOKEN_FOR, request=past, facts={"by": colleague.name}
        )
    span = {"starts_at": now - timedelta(days=1), "ends_at": now + timedelta(days=1)}
    delegations = [Delegation.objects.create(principal=person, delegate=one, **span) for one in colleagues]
    for one in colleagues:
        Delegation.objects.create(principal=one, delegate=person, **span)
    groups = [Group.objects.create(key=f"group-{n}", name=f"{mark} group {n}") for n in range(rows)]
    for group in groups:
        for colleague in colleagues:
            GroupMember.objects.create(group=group, person=colleague)
    stops = [
        Stop.objects.create(kind=f"world.{n}", reason=f"{mark} reason", engaged_by=person)
        for n in range(rows)
    ]
    return {"delegation_id": delegations[0].id, "group_id": groups[0].id, "stop_id": stops[0].id}


def _criterion(rubric: RubricVersion, n: int, mark: str) -> Criterion:
    return Criterion.objects.create(
        rubric=rubric,
        key=f"criterion-{n}",
        statement_tr=f"{mark} ölçüt {n}",
        statement_en=f"{mark} criterion {n}",
        kind=Criterion.Kind.MUST,
        method=Criterion.Method.MODEL,
        levels={"met": {"tr": "var", "en": "there"}},
        terms=["SAP"],
        order=n,
    )


def _application(
    actor: Actor,
    mark: str,
    job: Job,
    rubric: RubricVersion,
    run: EvaluationRun,
    criteria: list[Criterion],
    n: int,
    person: User,
) -> tuple[Application, Evaluation, CriterionVerdict, Decision, ApprovalRequest]:
    text = f"{mark} CV {n}\nSAP"
    stored = files.keep(actor=actor, name=f"{mark}-{n}.txt", chunks=[text.encode()])
    parsed = ParsedText.objects.create(
        file=stored,
        parser_id="text",
        parser_version="1",
        quality="ok",
        media_type="text/plain",
        text=text,
        pages=[{"number": 1, "start": 0, "end": len(text), "width": 595, "height": 842}],
        pieces=[{"number": 1, "page": 1, "start": 0, "end": len(text), "kind": "line", "bbox": None}],
    )
    candidate = Candidate.objects.create(name=f"{mark} person {n}", search_key=mark)
    application = Application.objects.create(job=job, candidate=candidate)
    CVDocument.objects.create(
        application=application,
        job=job,
        file=stored,
        sha256=stored.sha256,
        status=CVStatus.PARSED,
        parsed=parsed,
    )
    evaluation = Evaluation.objects.create(
        run=run,
        application=application,
        rubric=rubric,
        parsed=parsed,
        key=uuid4().hex,
        status=EvaluationStatus.NEEDS_REVIEW,
        ended_at=timezone.now(),
    )
    made = [_verdict(actor, mark, evaluation, parsed, criterion, len(criteria)) for criterion in criteria]
    return application, evaluation, *made[0]


def _verdict(
    actor: Actor, mark: str, evaluation: Evaluation, parsed: ParsedText, criterion: Criterion, rows: int
) -> tuple[CriterionVerdict, Decision, ApprovalRequest]:
    verdict_id = new_id()
    decision = _decision(actor, mark, evaluation, parsed, verdict_id, rows, f"{mark} node {criterion.order}")
    approval = request_approval(
        actor=actor,
        kind="inference.decision",
        subject_type="inference.decision",
        subject_id=str(decision.id),
        title=f"{mark} question",
        reasons=["MUST_NOT_STATED"],
        parameters={
            "decision_id": str(decision.id),
            "task": decision.task,
            "task_version": decision.task_version,
            "value": {"verdict": "met"},
            "sources": [
                {
                    "evidence_id": f"E{k + 1}",
                    "document": str(parsed.file_id),
                    "version": str(parsed.id),
                    "start": 0,
                    "end": 4,
                }
                for k in range(rows)
            ],
        },
        roles=list(ROLES),
        quorum=2,
        url=f"/ats/applications/{evaluation.application_id}/",
        group_key=str(evaluation.application_id),
        group_title=f"{mark} group",
    )
    Decision.objects.filter(pk=decision.pk).update(approval_id=approval.id)
    verdict = CriterionVerdict.objects.create(
        id=verdict_id,
        evaluation=evaluation,
        criterion=criterion,
        decision_id=decision.id,
        state=VerdictState.NEEDS_PERSON,
        proposal={"verdict": "met"},
        decided_by="",
        evidence=[
            {
                "piece": f"E{k + 1}",
                "version": str(parsed.id),
                "start": 0,
                "end": 4,
                "page": 1,
                "bbox": None,
                "quote": mark,
                "against": False,
            }
            for k in range(rows)
        ],
    )
    return verdict, decision, approval


def _decision(
    actor: Actor,
    mark: str,
    evaluation: Evaluation,
    parsed: ParsedText,
    verdict_id: UUID,
    rows: int,
    node: str,
) -> Decision:
    request = TaskRequest(
        actor=actor,
        task="ats.criterion_first_pass",
        subject=("ats.application", str(evaluation.application_id)),
        inputs={"verdict_id": str(verdict_id)},
        idempotency_key=f"verdict:{verdict_id}",
    )
    decision = Decision.objects.create(
        endpoint="internal",
        idempotency_key=request.idempotency_key,
        request_hash=request.content_hash(),
        task="ats.criterion_first_pass",
        task_version=1,
        product="ats",
        spec_hash="0" * 64,
        subject_type="ats.application",
        subject_id=str(evaluation.application_id),
        subject_label=f"{mark} subject",
        actor={"name": "test", "user_id": None},
        correlation={"node": node},
        mode="batch",
        locale="tr",
        status="needs_person",
        tier="economic",
        round=1,
        rested_at=timezone.now(),
    )
    citation = {
        "evidence_id": "E1",
        "pointer": "/pieces/0",
        "document_id": str(parsed.file_id),
        "version_id": str(parsed.id),
        "start": 0,
        "end": len(mark),
        "quote": mark,
        "page": 1,
        "bbox": None,
    }
    bodies.keep(
        decision.id,
        "outcome",
        {"value": {"verdict": "met", "pieces": ["E1"]}, "citations": [citation] * rows, "findings": []},
    )
    for n in range(rows):
        DecisionStep.objects.create(decision=decision, seq=n, round=1, stage="checks", seconds=0.01)
        CheckResult.objects.create(
            decision=decision, seq=n, attempt_no=n, round=1, name="schema", passed=True
        )
        attempt = Attempt.objects.create(
            decision=decision,
            attempt_id=uuid4().hex,
            attempt_no=n,
            round=1,
            kind="primary",
            finish="stop",
            uncached=1,
            cache_read=1,
            output=1,
            input_total=2,
            cost_state="unknown",
        )
        PrefixChain.objects.create(attempt=attempt, salt_id=mark, tokens=17, blocks=b"12345678")
    return decision


def _catalogue(mark: str, person: User, rows: int) -> dict[str, UUID]:
    """Prices and behaviours, each compared with its source as often."""
    known = {"provider": mark, "model": f"{mark} model", "source_url": f"https://{mark}.example/"}
    prices = [
        Price.objects.create(kind="token", currency="TRY", input=n, effective_from=timezone.now(), **known)
        for n in range(rows)
    ]
    behaviours = [
        Behaviour.objects.create(granularity=n + 1, effective_from=timezone.now(), **known)
        for n in range(rows)
    ]
    for subject in (*({"price": row} for row in prices), *({"behaviour": row} for row in behaviours)):
        for n in range(rows):
            Verification.objects.create(**subject, by=person, source_sha256=f"{n:064x}")
    return {"price_id": prices[0].id, "behaviour_id": behaviours[0].id}


def _batches(actor: Actor, mark: str, decisions: list[Decision]) -> dict[str, UUID]:
    """A batch of these decisions with one failure for each, ended, and one that is still going on; their files."""
    now, causes = timezone.now(), sorted(ITEM_CAUSES)
    made = []
    for status in ("completed", "in_progress"):
        held = [
            _batch_file(actor, purpose, f"{mark}-{status}-{purpose}.jsonl", f"{mark} {status} {purpose}\n")
            for purpose in ("batch", "output", "error")
        ]
        ended = status == "completed"
        batch = Batch.objects.create(
            input_file=held[0],
            output_file=held[1] if ended else None,
            error_file=held[2] if ended else None,
            window="24h",
            locale="en",
            status=status,
            actor=actor.to_json(),
            metadata={"name": mark},
            total=2 * len(decisions),
            due_at=now + timedelta(days=1),
            started_at=now,
            ended_at=now if ended else None,
        )
        for n, decision in enumerate(decisions):
            known = {"batch": batch, "offset": 0, "length": 1, "task": decision.task, "task_version": 1}
            hashes = dict.fromkeys(("line_hash", "namespace_hash", "prefix_hash", "subject_hash"), "0" * 64)
            done = {"status": "done", "decision": decision, "ended_at": now} if ended else {}
            failed = {"status": "failed", "cause": causes[n], "ended_at": now} if ended else {}
            for k, fate in enumerate((done, failed)):
                BatchItem.objects.create(
                    custom_id=f"{mark}-{n}-{k}",
                    line=2 * n + k + 1,
                    due_at=batch.due_at,
                    **known,
                    **hashes,
                    **fate,
                )
        made.append((batch, held[0]))
    BatchShare.objects.create(usual=1_000)
    return {"batch_id": made[0][0].id, "file_id": made[1][1].id}


def _batch_file(actor: Actor, purpose: str, name: str, text: str) -> BatchFile:
    stored = files.keep(actor=actor, name=name, chunks=[text.encode()])
    return BatchFile.objects.create(
        purpose=purpose, stored=stored, name=name, size=stored.size, sha256=stored.sha256, lines=1
    )
