"""Rows of the recruiting product: jobs with versioned rubrics, people with applications, CVs, evaluations."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from ats.states import ApplicationStatus, CVStatus, EvaluationStatus, RubricStatus, Verdict, VerdictState
from nekibu.files.models import ParsedText, StoredFile
from nekibu.tenants.models import TenantModel
from nekibu.users.models import User


class Job(TenantModel):
    """A position to fill."""

    title_tr = models.CharField(max_length=200)
    title_en = models.CharField(max_length=200)
    description_tr = models.TextField(blank=True, default="")
    description_en = models.TextField(blank=True, default="")
    is_open = models.BooleanField(default=True)

    class Meta:
        db_table = "ats_job"

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """In the reader's language."""
        return self.title_en if get_language() == "en" else self.title_tr

    @property
    def description(self) -> str:
        """In the reader's language."""
        return self.description_en if get_language() == "en" else self.description_tr


class RubricVersion(TenantModel):
    """The criteria of a job at one version. An approved version is immutable, and evaluations pin it."""

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="rubrics")
    version = models.PositiveIntegerField()
    status = models.CharField(max_length=20, choices=RubricStatus.choices, default=RubricStatus.DRAFT)
    approved_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    approved_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "ats_rubric_version"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "job", "version"], name="ats_rubric_number"),
            models.UniqueConstraint(
                fields=["tenant", "job"], condition=Q(status="approved"), name="ats_rubric_one_approved"
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.version}"


class Criterion(TenantModel):
    """One question of a rubric, judged by a rule, by the model, or by a person alone."""

    class Kind(models.TextChoices):
        MUST = "must", _("Must")
        NICE = "nice", _("Nice to have")
        KNOCKOUT = "knockout", _("Knockout")

    class Method(models.TextChoices):
        RULE = "rule", _("Rule")
        MODEL = "model", _("Model")
        HUMAN_ONLY = "human_only", _("Person")

    rubric = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="criteria")
    key = models.SlugField(max_length=60)
    statement_tr = models.CharField(max_length=400)
    statement_en = models.CharField(max_length=400)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    method = models.CharField(max_length=12, choices=Method.choices)
    rule = models.JSONField(null=True)
    levels = models.JSONField(default=dict)
    terms = models.JSONField(default=list)
    weight = models.PositiveSmallIntegerField(default=1)
    order = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "ats_criterion"
        ordering = ["order"]
        constraints = [models.UniqueConstraint(fields=["tenant", "rubric", "key"], name="ats_criterion_key")]

    def __str__(self) -> str:
        return self.statement

    @property
    def statement(self) -> str:
        """In the reader's language."""
        return self.statement_en if get_language() == "en" else self.statement_tr


class Candidate(TenantModel):
    """A person. Until somebody gives a name, the name of the file stands in for it, and says so."""

    name = models.CharField(max_length=200)
    name_from_file = models.BooleanField(default=False)
    email = models.EmailField(blank=True, default="")
    phone = models.CharField(max_length=20, blank=True, default="")
    search_key = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        db_table = "ats_candidate"

    def __str__(self) -> str:
        return self.name


class Application(TenantModel):
    """A person's application to a job."""

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="applications")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="applications")
    status = models.CharField(
        max_length=20, choices=ApplicationStatus.choices, default=ApplicationStatus.ACTIVE
    )
    source = models.CharField(max_length=40, default="upload")
    ai_opt_out = models.BooleanField(default=False)

    class Meta:
        db_table = "ats_application"
        indexes = [models.Index(fields=["tenant", "job", "id"], name="ats_application_job")]

    def __str__(self) -> str:
        return f"{self.candidate_id} → {self.job_id}"


class CVDocument(TenantModel):
    """The CV of an application: the original, and the text that is read in it."""

    application = models.OneToOneField(Application, on_delete=models.PROTECT, related_name="cv")
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="+")
    file = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="+")
    sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=20, choices=CVStatus.choices, default=CVStatus.UPLOADED)
    parsed = models.ForeignKey(ParsedText, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "ats_cv"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "job", "sha256"], name="ats_cv_once_per_job")
        ]

    def __str__(self) -> str:
        return str(self.file_id)


class EvaluationRun(TenantModel):
    """One press of the button: some applications, one rubric version, online or batch."""

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="runs")
    rubric = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    clock = models.CharField(max_length=10, choices=[("online", "online"), ("batch", "batch")])
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "ats_run"

    def __str__(self) -> str:
        return str(self.id)


class Evaluation(TenantModel):
    """One CV text against one rubric version: the same key is the same row, and asks nothing twice."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="evaluations")
    application = models.ForeignKey(Application, on_delete=models.PROTECT, related_name="evaluations")
    rubric = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    parsed = models.ForeignKey(ParsedText, null=True, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=64)
    status = models.CharField(
        max_length=20, choices=EvaluationStatus.choices, default=EvaluationStatus.QUEUED
    )
    block_reason = models.CharField(max_length=60, blank=True, default="")
    current = models.BooleanField(default=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "ats_evaluation"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "key"], name="ats_evaluation_key"),
            models.UniqueConstraint(
                fields=["tenant", "application"], condition=Q(current=True), name="ats_evaluation_one_current"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class CriterionVerdict(TenantModel):
    """What an evaluation says about one criterion, with the places in the CV that say it."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="verdicts")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    decision_id = models.UUIDField(null=True)
    state = models.CharField(max_length=20, choices=VerdictState.choices, default=VerdictState.WAITING)
    verdict = models.CharField(max_length=20, choices=Verdict.choices, blank=True, default="")
    proposal = models.JSONField(null=True)
    evidence = models.JSONField(default=list)
    findings = models.JSONField(default=list)
    reasoning = models.CharField(max_length=400, blank=True, default="")
    decided_by = models.CharField(max_length=20, blank=True, default="")

    class Meta:
        db_table = "ats_verdict"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "evaluation", "criterion"], name="ats_verdict_once")
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id} {self.verdict or self.state}"
