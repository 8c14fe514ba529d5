"""States of the recruiting product, and the moves between them. Nothing here rejects a candidate by itself."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class RubricStatus(TextChoices):
    """A rubric version: once approved it never changes."""

    DRAFT = "draft", _("Draft")
    APPROVED = "approved", _("Approved")
    RETIRED = "retired", _("Retired")


class ApplicationStatus(TextChoices):
    """An application. Only a person moves it."""

    ACTIVE = "active", _("Active")
    REJECTED = "rejected", _("Rejected")
    WITHDRAWN = "withdrawn", _("Withdrawn")


class CVStatus(TextChoices):
    """A CV on its way to text."""

    UPLOADED = "uploaded", _("Uploaded")
    PARSING = "parsing", _("Being read")
    PARSED = "parsed", _("Read")


class EvaluationStatus(TextChoices):
    """An evaluation of one CV against one rubric version."""

    BLOCKED = "blocked", _("Not possible")
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    NEEDS_REVIEW = "needs_review", _("Needs review")
    REVIEWED = "reviewed", _("Reviewed")
    SUPERSEDED = "superseded", _("Superseded")


class Verdict(TextChoices):
    """What the CV says about a criterion."""

    MET = "met", _("Met")
    PARTLY = "partly", _("Partly met")
    NOT_MET = "not_met", _("Not met")
    NOT_STATED = "not_stated", _("Not stated in the CV")


class VerdictState(TextChoices):
    """How far a verdict can be relied on."""

    WAITING = "waiting", _("Waiting")
    VERIFIED = "verified", _("Verified")
    NEEDS_PERSON = "needs_person", _("A person decides")
    CONFIRMED = "confirmed", _("Confirmed by a person")
    OVERRIDDEN = "overridden", _("Changed by a person")
    FAILED = "failed", _("Failed")


RUBRIC_MOVES: dict[str, frozenset[str]] = {
    RubricStatus.DRAFT: frozenset({RubricStatus.APPROVED}),
    RubricStatus.APPROVED: frozenset({RubricStatus.RETIRED}),
}
CV_MOVES: dict[str, frozenset[str]] = {
    CVStatus.UPLOADED: frozenset({CVStatus.PARSING, CVStatus.PARSED}),
    CVStatus.PARSING: frozenset({CVStatus.PARSED}),
}
EVALUATION_MOVES: dict[str, frozenset[str]] = {
    EvaluationStatus.QUEUED: frozenset({EvaluationStatus.RUNNING, EvaluationStatus.SUPERSEDED}),
    EvaluationStatus.RUNNING: frozenset(
        {EvaluationStatus.COMPLETED, EvaluationStatus.NEEDS_REVIEW, EvaluationStatus.SUPERSEDED}
    ),
    EvaluationStatus.COMPLETED: frozenset({EvaluationStatus.REVIEWED, EvaluationStatus.SUPERSEDED}),
    EvaluationStatus.NEEDS_REVIEW: frozenset({EvaluationStatus.REVIEWED, EvaluationStatus.SUPERSEDED}),
    EvaluationStatus.REVIEWED: frozenset({EvaluationStatus.SUPERSEDED}),
    EvaluationStatus.BLOCKED: frozenset({EvaluationStatus.SUPERSEDED}),
}
ENDED = (
    EvaluationStatus.COMPLETED,
    EvaluationStatus.NEEDS_REVIEW,
    EvaluationStatus.REVIEWED,
    EvaluationStatus.BLOCKED,
)
