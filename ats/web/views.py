"""Pages of jobs, their rubrics and their runs. The page of one application is in `dossier`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from ats import selectors, services
from ats.models import Application, CriterionVerdict, Evaluation, Job, RubricVersion
from ats.permissions import AtsAction
from ats.states import EvaluationStatus, RubricStatus, Verdict
from ats.web.forms import UploadForm
from ats.web.rights import actor_of, may
from ats.web.words import (
    QUALITY_ICONS,
    QUALITY_TONES,
    STATUS_ICONS,
    STATUS_TONES,
    block_words,
    file_words,
    in_language,
    rule_words,
)
from nekibu.errors import InvalidInput, NekibuError
from nekibu.files.models import Quality
from nekibu.users.access import page

PER_PAGE = 50
MOVING = (EvaluationStatus.QUEUED, EvaluationStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class Line:
    """One application in the table of a job."""

    row: Application
    evaluation: Evaluation | None
    quality: str
    quality_label: str
    quality_tone: str
    quality_icon: str
    quality_note: str
    status_tone: str
    status_icon: str
    status_note: str

    @property
    def moving(self) -> bool:
        """Whether something is being read or evaluated, so that the table has to be read again."""
        return not self.quality or (self.evaluation is not None and self.evaluation.status in MOVING)

    @property
    def due(self) -> bool:
        """Whether an evaluation would bring something new: the same text and rubric are never asked twice."""
        return bool(self.quality) and not self.moving and self.outdated

    @property
    def outdated(self) -> bool:
        """Whether there is no evaluation yet, or none by the rubric that is approved now."""
        held = self.evaluation
        return (
            held is None
            or held.status == EvaluationStatus.BLOCKED
            or held.rubric.status != RubricStatus.APPROVED
        )

    @property
    def verdicts(self) -> list[CriterionVerdict]:
        """Verdicts in the order of the rubric."""
        return list(self.evaluation.verdicts.all()) if self.evaluation else []


@page(AtsAction.JOB_READ)
def jobs(request: HttpRequest) -> HttpResponse:
    """The jobs of the company."""
    return render(request, "ats/jobs.html", {"jobs": list(selectors.jobs()), "may": may(actor_of(request))})


@page(AtsAction.JOB_READ)
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """One job: its rubric in short, the drop zone, and the applications."""
    found, rights = selectors.job(job_id), may(actor_of(request))
    versions = RubricVersion.objects.filter(job=found).order_by("-version")
    current = versions.filter(status=RubricStatus.APPROVED).prefetch_related("criteria").first()
    return render(
        request,
        "ats/job.html",
        {
            "job": found,
            "rubric": current,
            "criteria": list(current.criteria.all()) if current else [],
            "draft": None if current else versions.first(),
            "may": rights,
            **(_table(request, found) if rights.read_applications else {}),
        },
    )


@page(AtsAction.APPLICATION_READ)
def rows(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Only the table of a job's applications, for its refreshing."""
    found = selectors.job(job_id)
    return render(
        request, "ats/rows.html", {"job": found, "may": may(actor_of(request)), **_table(request, found)}
    )


@require_POST
@page(AtsAction.APPLICATION_WRITE, POST=AtsAction.APPLICATION_WRITE)
def upload(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Take CVs: one with an answer in JSON for the drop zone, or many from the plain form."""
    found = selectors.job(job_id)
    as_json = request.headers.get("Accept", "").startswith("application/json")
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        if as_json:
            raise InvalidInput(
                _("Choose a file."),
                errors=[{"field": "file", "code": "required", "message": _("Choose a file.")}],
            )
        messages.error(request, _("Choose at least one file."))
        return HttpResponseRedirect(reverse("ats-job", args=[job_id]))
    files = form.cleaned_data["file"]
    if as_json:
        made = _receive(request, found, files[0])
        return JsonResponse(
            {
                "name": files[0].name,
                "state": _("Received; it is being read."),
                "url": reverse("ats-application", args=[made.id]),
            },
            status=201,
        )
    received = 0
    for file in files:
        try:
            with transaction.atomic():
                _receive(request, found, file)
            received += 1
        except NekibuError as refused:
            messages.error(request, f"{file.name}: {error_words(refused)}")
    if received:
        messages.success(
            request,
            ngettext(
                "%(n)s CV received; it is being read.", "%(n)s CVs received; they are being read.", received
            )
            % {"n": received},
        )
    return HttpResponseRedirect(reverse("ats-job", args=[job_id]))


@require_POST
@page(AtsAction.EVALUATION_START, POST=AtsAction.EVALUATION_START)
def evaluate(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Start an evaluation: of one application now, or of all in the background."""
    found, chosen = selectors.job(job_id), request.POST.get("application", "")
    try:
        ids = [UUID(chosen)] if chosen else None
    except ValueError:
        raise InvalidInput from None
    try:
        with transaction.atomic():
            run = services.start_evaluations(
                actor=actor_of(request),
                job=found,
                application_ids=ids,
                clock="online" if ids else "batch",
            )
    except NekibuError as refused:
        if refused.status not in {409, 422}:
            raise
        messages.error(request, error_words(refused))
        return HttpResponseRedirect(reverse("ats-job", args=[job_id]))
    return HttpResponseRedirect(reverse("ats-run", args=[run.id]))


@page(AtsAction.JOB_READ)
def rubrics(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The versions of a job's rubric with their criteria."""
    found = selectors.job(job_id)
    versions = [
        {
            "row": version,
            "tone": {"approved": "success", "draft": "warning"}.get(version.status, ""),
            "criteria": [
                {
                    "row": criterion,
                    "rule": rule_words(criterion.rule) if criterion.method == "rule" else "",
                    "levels": [
                        (name, in_language(criterion.levels[name]))
                        for name in Verdict.values
                        if name in criterion.levels
                    ],
                }
                for criterion in version.criteria.all()
            ],
        }
        for version in selectors.rubrics(found)
    ]
    return render(
        request, "ats/rubrics.html", {"job": found, "versions": versions, "may": may(actor_of(request))}
    )


@require_POST
@page(AtsAction.RUBRIC_APPROVE, POST=AtsAction.RUBRIC_APPROVE)
def approve(request: HttpRequest, rubric_id: UUID) -> HttpResponse:
    """Freeze a draft; evaluations use it from now on."""
    found = selectors.rubric(rubric_id)
    try:
        with transaction.atomic():
            services.approve_rubric(actor=actor_of(request), rubric=found)
        messages.success(
            request, _("Version %(n)s is approved. It will not change any more.") % {"n": found.version}
        )
    except NekibuError as refused:
        if refused.status != 409:
            raise
        messages.error(request, error_words(refused))
    return HttpResponseRedirect(reverse("ats-rubrics", args=[found.job_id]))


@page(AtsAction.EVALUATION_READ)
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """How far a run is, live where there is a script, and by reading again where there is none."""
    found = selectors.run(run_id)
    progress = selectors.progress(found)
    evaluations = selectors.evaluations().filter(run=found, current=True)
    at = _number(request.GET.get("page", ""))
    shown = list(evaluations[(at - 1) * PER_PAGE : at * PER_PAGE])
    return render(
        request,
        "ats/run.html",
        {
            "run": found,
            "progress": progress.counts(),
            "done": progress.ended == progress.total,
            "lines": [
                {
                    "row": e,
                    "tone": STATUS_TONES.get(e.status, ""),
                    "icon": STATUS_ICONS[e.status],
                    "note": block_words(e.block_reason) if e.block_reason else "",
                    "verdicts": list(e.verdicts.all()),
                }
                for e in shown
            ],
            **_links(at, progress.total),
        },
    )


def error_words(refused: NekibuError) -> str:
    """An error as a sentence for its reader, with the fields it names."""
    named = [str(e["message"]) for e in refused.data.get("errors", [])]
    return " ".join(named) or _(refused.message)


def _receive(request: HttpRequest, job: Job, file: UploadedFile[Any]) -> Application:
    """Take one CV; a repeated one is refused with the address of the first."""
    try:
        return services.add_cv(actor=actor_of(request), job=job, name=file.name or "", chunks=file.chunks())
    except services.AlreadyApplied as held:
        if "application_id" in held.data:
            held.data["url"] = reverse("ats-application", args=[held.data["application_id"]])
        raise


def _table(request: HttpRequest, of: Job) -> dict[str, Any]:
    total: int = of.applications_count  # type: ignore[attr-defined]
    at = _number(request.GET.get("page", ""))
    lines = [line_of(row) for row in selectors.applications(of.id)[(at - 1) * PER_PAGE : at * PER_PAGE]]
    return {
        "lines": lines,
        "moving": any(line.moving for line in lines),
        "page_number": at,
        **_links(at, total),
    }


def line_of(row: Application) -> Line:
    """An application with what the table says about its file and its evaluation."""
    evaluation: Evaluation | None = next(iter(row.current_evaluations), None)  # type: ignore[attr-defined]
    cv = getattr(row, "cv", None)
    parsed = cv.parsed if cv else None
    quality = str(parsed.quality) if parsed else ""
    status = evaluation.status if evaluation else ""
    return Line(
        row=row,
        evaluation=evaluation,
        quality=quality,
        quality_label=str(Quality(quality).label) if quality else _("Being read"),
        quality_tone=QUALITY_TONES.get(quality, "info"),
        quality_icon=QUALITY_ICONS.get(quality, "loader-circle"),
        quality_note=file_words(parsed.reason) if parsed and parsed.reason else "",
        status_tone=STATUS_TONES.get(status, ""),
        status_icon=STATUS_ICONS.get(status, "circle-dashed"),
        status_note=block_words(evaluation.block_reason) if evaluation and evaluation.block_reason else "",
    )


def _number(raw: str) -> int:
    return min(max(int(raw), 1), 100_000) if raw.isascii() and raw.isdigit() else 1


def _links(at: int, total: int) -> dict[str, Any]:
    return {
        "total": total,
        "previous": f"?page={at - 1}" if at > 1 else "",
        "next": f"?page={at + 1}" if at * PER_PAGE < total else "",
    }
