"""Acts of recruiting. Each checks the right, changes rows and writes its audit row in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

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
from ats.names import name_from_file
from ats.permissions import AtsAction, AtsTag
from ats.rules import Flaw, check_rule
from ats.states import (
    CV_MOVES,
    EVALUATION_MOVES,
    RUBRIC_MOVES,
    ApplicationStatus,
    CVStatus,
    EvaluationStatus,
    RubricStatus,
    Verdict,
    VerdictState,
)
from ats.verdicts import conclude, tell
from inference.registry import find
from inference.services import decide, override
from inference.types import TaskRequest
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.errors import Conflict, InvalidInput, NotFound, Refused
from nekibu.files import services as files
from nekibu.files.models import ParsedText
from nekibu.jobs.enqueue import enqueue
from nekibu.language.turkish import fold
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.sentences import retold
from nekibu.tenants.scope import tenant_scope

TASK = "ats.criterion_first_pass"
CLOSED = (EvaluationStatus.BLOCKED, EvaluationStatus.SUPERSEDED)


class AlreadyApplied(Conflict):
    """This CV is already among the applications of the job."""

    code = "already_applied"


def create_job(
    *, actor: Actor, title_tr: str, title_en: str, description_tr: str = "", description_en: str = ""
) -> Job:
    """Open a job."""
    require(actor, AtsAction.JOB_WRITE)
    job = Job.objects.create(
        title_tr=title_tr, title_en=title_en, description_tr=description_tr, description_en=description_en
    )
    record(actor, AtsTag.JOB_CREATED, job)
    return job


def create_rubric(*, actor: Actor, job: Job, criteria: Sequence[Mapping[str, Any]]) -> RubricVersion:
    """Draft the next version of a job's rubric. Raises InvalidInput naming the criterion that cannot be."""
    require(actor, AtsAction.RUBRIC_WRITE)
    errors = list(_criteria_errors(criteria))
    if errors:
        raise InvalidInput(errors=errors)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=job.pk)
        last = (
            RubricVersion.objects.filter(job=job)
            .order_by("-version")
            .values_list("version", flat=True)
            .first()
            or 0
        )
        rubric = RubricVersion.objects.create(job=job, version=last + 1)
        Criterion.objects.bulk_create(
            Criterion(rubric=rubric, order=number, **item) for number, item in enumerate(criteria)
        )
        record(
            actor,
            AtsTag.RUBRIC_CREATED,
            rubric,
            version=rubric.version,
            criteria=[c["key"] for c in criteria],
        )
    return rubric


def approve_rubric(*, actor: Actor, rubric: RubricVersion) -> RubricVersion:
    """A person freezes a draft; the version approved before retires."""
    require(actor, AtsAction.RUBRIC_APPROVE)
    with transaction.atomic():
        for old in RubricVersion.objects.select_for_update().filter(
            job_id=rubric.job_id, status=RubricStatus.APPROVED
        ):
            move(old, RubricStatus.RETIRED, moves=RUBRIC_MOVES, actor=actor, tag=AtsTag.RUBRIC_MOVED)
        move(
            rubric, RubricStatus.APPROVED, moves=RUBRIC_MOVES, actor=actor, tag=AtsTag.RUBRIC_MOVED,
            approved_by_id=actor.user_id, approved_at=timezone.now(),
        )  # fmt: skip
    return rubric


def add_cv(
    *, actor: Actor, job: Job, name: str, chunks: Iterable[bytes], candidate_name: str = ""
) -> Application:
    """Keep an uploaded CV, and have it read. The same bytes twice on one job raise AlreadyApplied with the first one's id."""
    require(actor, AtsAction.APPLICATION_WRITE)
    with transaction.atomic():
        stored = files.keep(actor=actor, name=name, chunks=chunks)
        held = CVDocument.objects.filter(job=job, sha256=stored.sha256).first()
        if held is not None:
            raise AlreadyApplied(application_id=str(held.application_id))
        shown = candidate_name.strip() or name_from_file(name)
        candidate = Candidate.objects.create(
            name=shown[:200], name_from_file=not candidate_name.strip(), search_key=fold(shown)[:300]
        )
        application = Application.objects.create(job=job, candidate=candidate)
        try:
            with transaction.atomic():
                CVDocument.objects.create(application=application, job=job, file=stored, sha256=stored.sha256)
        except IntegrityError:
            raise AlreadyApplied from None
        record(actor, AtsTag.APPLICATION_CREATED, application, file=str(stored.id), sha256=stored.sha256)
        enqueue("ats.read_cv", actor=actor, application_id=str(application.id))
    return application


def read_cv(*, actor: Actor, application_id: UUID) -> None:
    """Read a CV's text in the limited child process. Run again, it finds its work done."""
    with tenant_scope(actor.tenant_id):
        cv = CVDocument.objects.select_related("file").get(application_id=application_id)
        if cv.status == CVStatus.PARSED:
            return
        if cv.status == CVStatus.UPLOADED:
            move(cv, CVStatus.PARSING, moves=CV_MOVES, actor=actor, tag=AtsTag.CV_MOVED)
    fields = files.read(cv.file)
    with tenant_scope(actor.tenant_id):
        text = files.keep_text(actor=actor, stored=cv.file, fields=fields)
        move(
            cv,
            CVStatus.PARSED,
            moves=CV_MOVES,
            actor=actor,
            tag=AtsTag.CV_MOVED,
            note=text.quality,
            parsed_id=text.id,
        )


def start_evaluations(
    *, actor: Actor, job: Job, application_ids: Sequence[UUID] | None = None, clock: str = "batch"
) -> EvaluationRun:
    """Evaluate applications of a job (all active ones by default) against its approved rubric.

    What was evaluated before with the same text and rubric is kept as it is. A CV without text is blocked, with its
    reason, and costs nothing. Raises Refused without an approved rubric, NotFound for an unknown application.
    """
    require(actor, AtsAction.EVALUATION_START)
    rubric = RubricVersion.objects.filter(job=job, status=RubricStatus.APPROVED).first()
    if rubric is None:
        raise Refused(_("The job has no approved rubric. Approve one first."), code="no_rubric")
    rows = Application.objects.filter(job=job).select_related("cv__parsed").order_by("id")
    if application_ids is not None:
        rows = rows.filter(pk__in=application_ids)
        if rows.count() != len(set(application_ids)):
            raise NotFound
    else:
        rows = rows.filter(status=ApplicationStatus.ACTIVE)
    with transaction.atomic():
        run = EvaluationRun.objects.create(job=job, rubric=rubric, clock=clock, requested_by_id=actor.user_id)
        for application in rows.select_for_update(of=("self",)):
            _request(actor, run, application)
        record(
            actor,
            AtsTag.EVALUATION_REQUESTED,
            run,
            clock=clock,
            applications=rows.count(),
            rubric=rubric.version,
        )
    return run


def evaluate(*, actor: Actor, evaluation_id: UUID) -> None:
    """Ask every criterion of one evaluation, one after the other so that the CV stays a shared prefix. Bears repetition."""
    with tenant_scope(actor.tenant_id):
        evaluation = Evaluation.objects.select_related("run").get(pk=evaluation_id)
        if evaluation.status == EvaluationStatus.QUEUED:
            move(
                evaluation,
                EvaluationStatus.RUNNING,
                moves=EVALUATION_MOVES,
                actor=actor,
                tag=AtsTag.EVALUATION_MOVED,
            )
            tell(evaluation.run_id)
        if evaluation.status != EvaluationStatus.RUNNING:
            return
        asked = list(
            CriterionVerdict.objects.filter(evaluation=evaluation)
            .select_related("criterion")
            .order_by("criterion__order")
        )
    for verdict in asked:
        if verdict.state == VerdictState.WAITING:
            decide(_question(actor, evaluation, verdict))
    with tenant_scope(actor.tenant_id):
        evaluation = Evaluation.objects.select_for_update().get(pk=evaluation_id)
        if evaluation.status == EvaluationStatus.RUNNING:
            conclude(evaluation, actor)


def override_verdict(
    *, actor: Actor, verdict: CriterionVerdict, said: str, reason: str, pieces: Sequence[str], key: str
) -> None:
    """A person's verdict in place of the machine's, with a reason; the machine's word stays in the record."""
    require(actor, AtsAction.VERDICT_OVERRIDE)
    if said not in Verdict.values:
        raise InvalidInput(
            errors=[{"field": "verdict", "code": "invalid", "message": _("Choose one of the four verdicts.")}]
        )
    if verdict.decision_id is None:
        raise Conflict(_("This criterion has not been judged yet."))
    value = {
        "pieces": list(pieces) if said != "not_stated" else [],
        "counter_pieces": [],
        "reasoning": reason.strip()[:160],
        "verdict": said,
    }
    override(actor=actor, decision_id=verdict.decision_id, value=value, reason=reason, key=key)


def _request(actor: Actor, run: EvaluationRun, application: Application) -> None:
    parsed = application.cv.parsed
    key = _key(application, parsed, run.rubric)
    held = Evaluation.objects.filter(key=key).first()
    if held is not None and held.current and held.status not in CLOSED:
        Evaluation.objects.filter(pk=held.pk).update(run=run)
        return
    for old in Evaluation.objects.filter(application=application, current=True):
        move(
            old,
            EvaluationStatus.SUPERSEDED,
            moves=EVALUATION_MOVES,
            actor=actor,
            tag=AtsTag.EVALUATION_MOVED,
            current=False,
            key=f"{old.id}",
        )
    reason = _block(application, parsed)
    evaluation = Evaluation.objects.create(
        run=run, application=application, rubric=run.rubric, parsed=parsed, key=key,
        status=EvaluationStatus.BLOCKED if reason else EvaluationStatus.QUEUED, block_reason=reason,
        ended_at=timezone.now() if reason else None,
    )  # fmt: skip
    if reason:
        return
    CriterionVerdict.objects.bulk_create(
        CriterionVerdict(evaluation=evaluation, criterion=c) for c in run.rubric.criteria.order_by("order")
    )
    enqueue("ats.evaluate", actor=actor, queue=run.clock, evaluation_id=str(evaluation.id))


def _block(application: Application, parsed: ParsedText | None) -> str:
    if application.ai_opt_out:
        return "opt_out"
    if parsed is None:
        return "not_read_yet"
    return "" if parsed.usable else str(parsed.quality)


def _key(application: Application, parsed: ParsedText | None, rubric: RubricVersion) -> str:
    parts = [application.id, parsed.id if parsed else "none", rubric.id, find(TASK).hash]
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()


def _question(actor: Actor, evaluation: Evaluation, verdict: CriterionVerdict) -> TaskRequest:
    return TaskRequest(
        actor=actor,
        task=TASK,
        subject=("ats.application", str(evaluation.application_id)),
        inputs={"verdict_id": str(verdict.id)},
        idempotency_key=f"verdict:{verdict.id}",
        mode="online" if evaluation.run.clock == "online" else "batch",
        correlation={
            "evaluation": str(evaluation.id),
            "run": str(evaluation.run_id),
            "criterion": verdict.criterion.key,
        },
    )


def _criteria_errors(criteria: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, str]]:
    if not criteria:
        yield {
            "field": "criteria",
            "code": "required",
            "message": _("A rubric needs at least one criterion."),
        }
    seen: set[str] = set()
    for number, item in enumerate(criteria):
        field = f"criteria[{number}]"
        if item["key"] in seen:
            yield {"field": f"{field}.key", "code": "unique", "message": _("Two criteria have this key.")}
        seen.add(item["key"])
        broken = check_rule(item.get("rule")) if item["method"] == Criterion.Method.RULE else ""
        if broken:
            yield {
                "field": f"{field}.rule",
                "code": "invalid",
                "message": _("This rule cannot be used: %(why)s")
                % {"why": retold(broken, Flaw, _) or broken},
            }
