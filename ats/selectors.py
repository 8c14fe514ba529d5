"""Reads of recruiting, always in the tenant's scope."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet

from ats.models import Application, Candidate, CriterionVerdict, Evaluation, EvaluationRun, Job, RubricVersion
from ats.states import EvaluationStatus, VerdictState
from nekibu.errors import NotFound
from nekibu.language.turkish import fold


def jobs() -> QuerySet[Job]:
    """Jobs, newest first, with how many applications each has."""
    rows: QuerySet[Any] = Job.objects.annotate(applications_count=Count("applications")).order_by("-id")
    return rows


def job(job_id: UUID) -> Job:
    """One job. Raises NotFound."""
    return _one(jobs().filter(pk=job_id))


def rubrics(of: Job) -> QuerySet[RubricVersion]:
    """A job's rubric versions with criteria, newest first."""
    return (
        RubricVersion.objects.filter(job=of)
        .prefetch_related("criteria")
        .select_related("approved_by")
        .order_by("-version")
    )


def rubric(rubric_id: UUID) -> RubricVersion:
    """One rubric version. Raises NotFound."""
    return _one(
        RubricVersion.objects.prefetch_related("criteria").select_related("approved_by").filter(pk=rubric_id)
    )


def candidates(query: str = "") -> QuerySet[Candidate]:
    """Candidates, found by any spelling of a part of the name."""
    rows = Candidate.objects.order_by("-id")
    return rows.filter(search_key__contains=fold(query)) if query.strip() else rows


def applications(job_id: UUID | None = None) -> QuerySet[Application]:
    """Applications with person, CV and current evaluation, newest first."""
    current = Prefetch(
        "evaluations",
        queryset=Evaluation.objects.filter(current=True)
        .select_related("rubric")
        .prefetch_related(
            Prefetch(
                "verdicts",
                queryset=CriterionVerdict.objects.select_related("criterion").order_by("criterion__order"),
            )
        ),
        to_attr="current_evaluations",
    )
    rows = (
        Application.objects.select_related("candidate", "job", "cv__file", "cv__parsed")
        .prefetch_related(current)
        .order_by("-id")
    )
    return rows.filter(job_id=job_id) if job_id else rows


def application(application_id: UUID) -> Application:
    """One application. Raises NotFound."""
    return _one(applications().filter(pk=application_id))


def evaluations() -> QuerySet[Evaluation]:
    """Evaluations with verdicts, newest first."""
    return (
        Evaluation.objects.select_related("application__candidate", "rubric", "run")
        .prefetch_related(
            Prefetch(
                "verdicts",
                queryset=CriterionVerdict.objects.select_related("criterion").order_by("criterion__order"),
            )
        )
        .order_by("-id")
    )


def evaluation(evaluation_id: UUID) -> Evaluation:
    """One evaluation. Raises NotFound."""
    return _one(evaluations().filter(pk=evaluation_id))


def verdict(verdict_id: UUID) -> CriterionVerdict:
    """One verdict. Raises NotFound."""
    return _one(
        CriterionVerdict.objects.select_related("evaluation__application", "criterion").filter(pk=verdict_id)
    )


def run(run_id: UUID) -> EvaluationRun:
    """One run. Raises NotFound."""
    return _one(EvaluationRun.objects.select_related("job", "rubric", "requested_by").filter(pk=run_id))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    total: int
    ended: int
    blocked: int
    needs_review: int
    verdicts: int
    verdicts_total: int

    @property
    def percent(self) -> int:
        """Share of ended evaluations and verdicts, 0 to 100."""
        if not self.total:
            return 100
        if self.ended == self.total:
            return 100
        return 100 * self.verdicts // self.verdicts_total if self.verdicts_total else 0

    def counts(self) -> dict[str, int]:
        """All of it, with the percentage."""
        return {**asdict(self), "percent": self.percent}


def progress(of: EvaluationRun) -> Progress:
    """Counts of a run, in two queries."""
    return progress_of([of])[of.pk]


def progress_of(runs: Collection[EvaluationRun]) -> dict[UUID, Progress]:
    """Counts of many runs, in two queries."""
    ended = Q(
        status__in=[
            EvaluationStatus.COMPLETED,
            EvaluationStatus.NEEDS_REVIEW,
            EvaluationStatus.REVIEWED,
            EvaluationStatus.BLOCKED,
        ]
    )
    current = Evaluation.objects.filter(run__in=runs, current=True).values("run_id")
    counts = {
        row.pop("run_id"): row
        for row in current.annotate(
            total=Count("id"),
            ended=Count("id", filter=ended),
            blocked=Count("id", filter=Q(status=EvaluationStatus.BLOCKED)),
            needs_review=Count("id", filter=Q(status=EvaluationStatus.NEEDS_REVIEW)),
        )
    }
    verdicts = CriterionVerdict.objects.filter(evaluation__run__in=runs, evaluation__current=True)
    asked = {
        row.pop("evaluation__run_id"): row
        for row in verdicts.values("evaluation__run_id").annotate(
            verdicts_total=Count("id"), verdicts=Count("id", filter=~Q(state=VerdictState.WAITING))
        )
    }
    nothing = dict.fromkeys(Progress.__slots__, 0)
    return {
        run.pk: Progress(**{**nothing, **counts.get(run.pk, {}), **asked.get(run.pk, {})}) for run in runs
    }


def _one(rows: QuerySet[Any]) -> Any:
    row = rows.first()
    if row is None:
        raise NotFound
    return row
