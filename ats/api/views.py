"""Jobs, rubrics, candidates, applications and evaluations over REST: thin, with the same services as the pages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from ats import selectors, services
from ats.api.serializers import (
    ApplicationIn,
    ApplicationOut,
    CandidateOut,
    CriterionVerdictOut,
    EvaluateIn,
    EvaluationOut,
    JobIn,
    JobOut,
    RubricIn,
    RubricOut,
    RunOut,
    TextOut,
    VerdictOverrideIn,
)
from ats.models import EvaluationRun, RubricVersion
from ats.permissions import AtsAction
from nekibu.api.serializers import ERRORS, WRITE_ERRORS
from nekibu.api.views import BaseView
from nekibu.errors import InvalidInput, NotFound
from nekibu.files.selectors import download
from nekibu.idempotency.decorator import idempotent

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)


def valid(kind: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    """The validated body. Raises a 400 that names the fields."""
    body = kind(data=data)
    body.is_valid(raise_exception=True)
    found: dict[str, Any] = body.validated_data
    return found


def uuid_of(request: Request, name: str) -> UUID | None:
    """A filter that is an id. Raises InvalidInput for anything else."""
    raw = request.query_params.get(name)
    if not raw:
        return None
    try:
        return UUID(raw)
    except ValueError:
        raise InvalidInput(
            errors=[{"field": name, "code": "invalid", "message": _("This is not an id.")}]
        ) from None


class Jobs(BaseView):
    """Jobs of the tenant."""

    actions = {"get": AtsAction.JOB_READ, "post": AtsAction.JOB_WRITE}

    @extend_schema(operation_id="jobs_list", responses={200: JobOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List jobs, newest first."""
        return self.page(request, selectors.jobs(), JobOut)

    @extend_schema(
        operation_id="jobs_create", parameters=[KEY], request=JobIn, responses={201: JobOut, **WRITE_ERRORS}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Open a job."""
        job = services.create_job(actor=self.actor, **valid(JobIn, request.data))
        return Response(JobOut(selectors.job(job.id)).data, status=201)


class JobDetail(BaseView):
    """One job."""

    actions = {"get": AtsAction.JOB_READ}

    @extend_schema(operation_id="jobs_read", responses={200: JobOut, **ERRORS})
    def get(self, request: Request, job_id: UUID) -> Response:
        """Read a job."""
        return Response(JobOut(selectors.job(job_id)).data)


class Rubrics(BaseView):
    """Rubric versions."""

    actions = {"get": AtsAction.JOB_READ, "post": AtsAction.RUBRIC_WRITE}

    @extend_schema(
        operation_id="rubrics_list",
        parameters=[OpenApiParameter("job", OpenApiTypes.UUID)],
        responses={200: RubricOut(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List rubric versions, of one job where `job` is given."""
        rows = RubricVersion.objects.prefetch_related("criteria").order_by("-id")
        job_id = uuid_of(request, "job")
        return self.page(request, rows.filter(job_id=job_id) if job_id else rows, RubricOut)

    @extend_schema(
        operation_id="rubrics_create",
        parameters=[KEY],
        request=RubricIn,
        responses={201: RubricOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Draft the next version."""
        body = valid(RubricIn, request.data)
        rubric = services.create_rubric(
            actor=self.actor, job=selectors.job(body["job"]), criteria=body["criteria"]
        )
        return Response(RubricOut(selectors.rubric(rubric.id)).data, status=201)


class RubricDetail(BaseView):
    """One rubric version."""

    actions = {"get": AtsAction.JOB_READ}

    @extend_schema(operation_id="rubrics_read", responses={200: RubricOut, **ERRORS})
    def get(self, request: Request, rubric_id: UUID) -> Response:
        """Read a version."""
        return Response(RubricOut(selectors.rubric(rubric_id)).data)


class RubricApprove(BaseView):
    """Freezing a draft."""

    actions = {"post": AtsAction.RUBRIC_APPROVE}

    @extend_schema(
        operation_id="rubrics_approve",
        parameters=[KEY],
        request=None,
        responses={200: RubricOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, rubric_id: UUID) -> Response:
        """Approve a draft; it never changes afterwards."""
        services.approve_rubric(actor=self.actor, rubric=selectors.rubric(rubric_id))
        return Response(RubricOut(selectors.rubric(rubric_id)).data)


class Candidates(BaseView):
    """Candidates."""

    actions = {"get": AtsAction.CANDIDATE_READ}

    @extend_schema(
        operation_id="candidates_list",
        parameters=[OpenApiParameter("q", str)],
        responses={200: CandidateOut(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List candidates; `q` finds a name in any spelling."""
        return self.page(request, selectors.candidates(request.query_params.get("q", "")), CandidateOut)


class Applications(BaseView):
    """Applications with their CVs."""

    actions = {"get": AtsAction.APPLICATION_READ, "post": AtsAction.APPLICATION_WRITE}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="applications_list",
        parameters=[OpenApiParameter("job", OpenApiTypes.UUID)],
        responses={200: ApplicationOut(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List applications, of one job where `job` is given."""
        return self.page(request, selectors.applications(uuid_of(request, "job")), ApplicationOut)

    @extend_schema(
        operation_id="applications_create",
        parameters=[KEY],
        request={"multipart/form-data": ApplicationIn},
        responses={201: ApplicationOut, 413: OpenApiTypes.OBJECT, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Upload a CV; it is read in the background, watch `cv.status`."""
        body = valid(ApplicationIn, request.data)
        application = services.add_cv(
            actor=self.actor,
            job=selectors.job(body["job"]),
            name=body["file"].name,
            chunks=body["file"].chunks(),
            candidate_name=body["candidate_name"],
        )
        return Response(ApplicationOut(selectors.application(application.id)).data, status=201)


class ApplicationDetail(BaseView):
    """One application."""

    actions = {"get": AtsAction.APPLICATION_READ}

    @extend_schema(operation_id="applications_read", responses={200: ApplicationOut, **ERRORS})
    def get(self, request: Request, application_id: UUID) -> Response:
        """Read an application."""
        return Response(ApplicationOut(selectors.application(application_id)).data)


class CVOriginal(BaseView):
    """The original file."""

    actions = {"get": AtsAction.CV_READ}

    @extend_schema(
        operation_id="applications_cv",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, **ERRORS},
    )
    def get(self, request: Request, application_id: UUID) -> HttpResponse:
        """Download the CV, byte-identical, under its exact name."""
        cv = selectors.application(application_id).cv
        return download(cv.file, cv.parsed.media_type if cv.parsed else "")


class CVText(BaseView):
    """The text that was read."""

    actions = {"get": AtsAction.CV_READ}

    @extend_schema(operation_id="applications_text", responses={200: TextOut, **ERRORS})
    def get(self, request: Request, application_id: UUID) -> Response:
        """The visible text; offsets count characters (Unicode code points)."""
        parsed = selectors.application(application_id).cv.parsed
        if parsed is None:
            raise NotFound(_("The CV has not been read yet. Ask again in a moment."))
        return Response(
            {
                "id": str(parsed.id),
                "parser": f"{parsed.parser_id} {parsed.parser_version}",
                "quality": parsed.quality,
                "text": parsed.text,
                "pages": parsed.pages,
                "pieces": parsed.pieces,
                "hidden": parsed.hidden,
            }
        )


class Evaluations(BaseView):
    """Evaluations."""

    actions = {"get": AtsAction.EVALUATION_READ, "post": AtsAction.EVALUATION_START}

    @extend_schema(
        operation_id="evaluations_list",
        parameters=[
            OpenApiParameter("run", OpenApiTypes.UUID),
            OpenApiParameter("job", OpenApiTypes.UUID),
            OpenApiParameter("current", bool),
        ],
        responses={200: EvaluationOut(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List evaluations, by run or job; `current=true` leaves superseded ones out."""
        rows = selectors.evaluations()
        run_id, job_id = uuid_of(request, "run"), uuid_of(request, "job")
        if run_id:
            rows = rows.filter(run_id=run_id)
        if job_id:
            rows = rows.filter(application__job_id=job_id)
        if request.query_params.get("current") == "true":
            rows = rows.filter(current=True)
        return self.page(request, rows, EvaluationOut)

    @extend_schema(
        operation_id="evaluations_start",
        parameters=[KEY],
        request=EvaluateIn,
        responses={202: RunOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Start a run; `Location` is where its progress can be read."""
        body = valid(EvaluateIn, request.data)
        chosen = body["applications"]
        clock = body["clock"]
        if clock == "auto":
            clock = "online" if chosen is not None and len(chosen) == 1 else "batch"
        run = services.start_evaluations(
            actor=self.actor, job=selectors.job(body["job"]), application_ids=chosen, clock=clock
        )
        return self.accepted(RunOut(selectors.run(run.id)).data, reverse("api-run", args=[run.id]))


class EvaluationDetail(BaseView):
    """One evaluation."""

    actions = {"get": AtsAction.EVALUATION_READ}

    @extend_schema(operation_id="evaluations_read", responses={200: EvaluationOut, **ERRORS})
    def get(self, request: Request, evaluation_id: UUID) -> Response:
        """Read an evaluation with verdicts and evidence."""
        return Response(EvaluationOut(selectors.evaluation(evaluation_id)).data)


class Runs(BaseView):
    """Runs."""

    actions = {"get": AtsAction.EVALUATION_READ}

    @extend_schema(operation_id="runs_list", responses={200: RunOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List runs, newest first."""
        return self.page(request, EvaluationRun.objects.order_by("-id"), RunOut)


class RunDetail(BaseView):
    """One run."""

    actions = {"get": AtsAction.EVALUATION_READ}

    @extend_schema(operation_id="runs_read", responses={200: RunOut, **ERRORS})
    def get(self, request: Request, run_id: UUID) -> Response:
        """Progress of a run."""
        return Response(RunOut(selectors.run(run_id)).data)


class VerdictOverride(BaseView):
    """A person's verdict."""

    actions = {"post": AtsAction.VERDICT_OVERRIDE}

    @extend_schema(
        operation_id="verdicts_override",
        parameters=[KEY],
        request=VerdictOverrideIn,
        responses={200: CriterionVerdictOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, verdict_id: UUID) -> Response:
        """Replace or confirm a verdict, with a reason."""
        body = valid(VerdictOverrideIn, request.data)
        services.override_verdict(
            actor=self.actor,
            verdict=selectors.verdict(verdict_id),
            said=body["verdict"],
            reason=body["reason"],
            pieces=body["pieces"],
            key=request.headers["Idempotency-Key"],
        )
        return Response(CriterionVerdictOut(selectors.verdict(verdict_id)).data)
