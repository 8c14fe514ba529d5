"""What recruiting shows and takes over REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

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
from ats.selectors import Progress, progress, progress_of
from ats.states import Verdict

CRITERION_KIND = Criterion.Kind  # by this name the API's description finds it


class JobOut(serializers.ModelSerializer):
    """A job."""

    applications_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Job
        fields = [
            "id",
            "title_tr",
            "title_en",
            "description_tr",
            "description_en",
            "is_open",
            "applications_count",
            "created_at",
        ]


class JobIn(serializers.Serializer):
    """A new job."""

    title_tr = serializers.CharField(max_length=200)
    title_en = serializers.CharField(max_length=200)
    description_tr = serializers.CharField(max_length=10_000, required=False, default="", allow_blank=True)
    description_en = serializers.CharField(max_length=10_000, required=False, default="", allow_blank=True)


class CriterionIn(serializers.Serializer):
    """One criterion. `rule` is required for `method=rule`, for example `{"type": "experience_months", "min": 60}`."""

    key = serializers.SlugField(max_length=60)
    statement_tr = serializers.CharField(max_length=400)
    statement_en = serializers.CharField(max_length=400)
    kind = serializers.ChoiceField(choices=Criterion.Kind.choices)
    method = serializers.ChoiceField(choices=Criterion.Method.choices)
    rule = serializers.JSONField(required=False, allow_null=True, default=None)
    levels = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(max_length=300)), required=False, default=dict
    )
    terms = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, default=list, max_length=40
    )
    weight = serializers.IntegerField(min_value=1, max_value=10, required=False, default=1)


class CriterionOut(serializers.ModelSerializer):
    """A criterion."""

    class Meta:
        model = Criterion
        fields = [
            "id",
            "key",
            "statement_tr",
            "statement_en",
            "kind",
            "method",
            "rule",
            "levels",
            "terms",
            "weight",
            "order",
        ]


class RubricOut(serializers.ModelSerializer):
    """A rubric version with its criteria."""

    criteria = CriterionOut(many=True)

    class Meta:
        model = RubricVersion
        fields = ["id", "job", "version", "status", "approved_at", "created_at", "criteria"]


class RubricIn(serializers.Serializer):
    """The next version of a job's rubric."""

    job = serializers.UUIDField()
    criteria = CriterionIn(many=True)


class CandidateOut(serializers.ModelSerializer):
    """A candidate."""

    class Meta:
        model = Candidate
        fields = ["id", "name", "name_from_file", "created_at"]


class CVOut(serializers.ModelSerializer):
    """A CV: the original's name and hash, and how well it could be read."""

    name = serializers.CharField(source="file.name")
    size = serializers.IntegerField(source="file.size")
    quality = serializers.CharField(source="parsed.quality", default=None)
    reason = serializers.CharField(source="parsed.reason", default=None)
    hidden_segments = serializers.SerializerMethodField()
    findings: Any = serializers.JSONField(source="parsed.findings", default=list)  # type: ignore[arg-type]

    class Meta:
        model = CVDocument
        fields = ["status", "name", "size", "sha256", "quality", "reason", "hidden_segments", "findings"]

    def get_hidden_segments(self, row: CVDocument) -> int:
        return len(row.parsed.hidden) if row.parsed else 0


class CriterionVerdictOut(serializers.ModelSerializer):
    """A criterion's verdict with its evidence; offsets count characters of the CV's text at `version`."""

    criterion = serializers.CharField(source="criterion.key")
    kind = serializers.CharField(source="criterion.kind")

    class Meta:
        model = CriterionVerdict
        fields = [
            "id", "criterion", "kind", "state", "verdict", "proposal", "reasoning", "evidence", "findings", "decided_by", "decision_id",
        ]  # fmt: skip


class EvaluationOut(serializers.ModelSerializer):
    """An evaluation with its verdicts."""

    verdicts = CriterionVerdictOut(many=True)
    rubric_version = serializers.IntegerField(source="rubric.version")
    text_version = serializers.UUIDField(source="parsed_id", allow_null=True)

    class Meta:
        model = Evaluation
        fields = [
            "id", "run", "application", "rubric", "rubric_version", "text_version", "status", "block_reason", "current", "created_at",
            "ended_at", "verdicts",
        ]  # fmt: skip


class ApplicationOut(serializers.ModelSerializer):
    """An application with its CV."""

    candidate = CandidateOut()
    cv = CVOut()
    evaluation = serializers.SerializerMethodField()

    class Meta:
        model = Application
        fields = [
            "id",
            "job",
            "candidate",
            "status",
            "source",
            "ai_opt_out",
            "created_at",
            "cv",
            "evaluation",
        ]

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_evaluation(self, row: Application) -> Any:
        """The current evaluation's id."""
        found: list[Evaluation] = getattr(row, "current_evaluations", [])
        return str(found[0].id) if found else None


class ApplicationIn(serializers.Serializer):
    """A CV for a job (multipart)."""

    job = serializers.UUIDField()
    file = serializers.FileField(allow_empty_file=True)
    candidate_name = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)


class TextOut(serializers.Serializer):
    """The visible text that was read, with pages, pieces and what was left out as hidden."""

    id = serializers.UUIDField()
    parser = serializers.CharField()
    quality = serializers.CharField()
    text = serializers.CharField()
    pages = serializers.JSONField()
    pieces = serializers.JSONField()
    hidden = serializers.JSONField()


class EvaluateIn(serializers.Serializer):
    """Start evaluations. Without `applications` all active ones of the job; one application runs online, many as a batch."""

    job = serializers.UUIDField()
    applications = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, default=None, max_length=1000
    )
    clock = serializers.ChoiceField(choices=["auto", "online", "batch"], required=False, default="auto")


class RunPage(serializers.ListSerializer):
    """Many runs, counted in two queries."""

    child: RunOut

    def to_representation(self, data: Any) -> list[Any]:
        """Count first, then write each."""
        self.child.counted = progress_of(data)
        return super().to_representation(data)


class RunOut(serializers.ModelSerializer):
    """A run and how far it is."""

    progress = serializers.SerializerMethodField()
    counted: Mapping[UUID, Progress] = {}

    class Meta:
        model = EvaluationRun
        fields = ["id", "job", "rubric", "clock", "created_at", "progress"]
        list_serializer_class = RunPage

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_progress(self, row: EvaluationRun) -> dict[str, int]:
        """Evaluations and verdicts, all and ended."""
        found = self.counted.get(row.pk) or progress(row)
        return found.counts()


class VerdictOverrideIn(serializers.Serializer):
    """A person's verdict, with the pieces that show it."""

    verdict = serializers.ChoiceField(choices=Verdict.choices)
    reason = serializers.CharField(max_length=2000)
    pieces = serializers.ListField(
        child=serializers.CharField(max_length=6), required=False, default=list, max_length=4
    )
