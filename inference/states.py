"""The states of decisions, batches and their items, and the moves between them. Terminal states never change."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class DecisionStatus(TextChoices):
    """Where a decision stands."""

    RECEIVED = "received", _("Received")
    PREPARED = "prepared", _("Prepared")
    QUEUED = "queued", _("Waiting for the model")
    RUNNING = "running", _("The model is answering")
    CHECKING = "checking", _("Being checked")
    ACCEPTED = "accepted", _("Accepted")
    AWAITING_APPROVAL = "awaiting_approval", _("Waiting for approval")
    NEEDS_PERSON = "needs_person", _("A person decides")
    FAILED = "failed", _("Failed")
    REJECTED = "rejected", _("Rejected by a person")
    EXPIRED = "expired", _("Expired")
    CANCELLED = "cancelled", _("Cancelled")


_S = DecisionStatus
MOVES: dict[str, frozenset[str]] = {
    _S.RECEIVED: frozenset({_S.PREPARED, _S.CANCELLED}),
    _S.PREPARED: frozenset(
        {_S.QUEUED, _S.CHECKING, _S.NEEDS_PERSON, _S.CANCELLED}
    ),  # a rule or a person needs no queue
    _S.QUEUED: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.CHECKING, _S.CANCELLED}),
    _S.CHECKING: frozenset({_S.ACCEPTED, _S.AWAITING_APPROVAL, _S.NEEDS_PERSON, _S.FAILED, _S.CANCELLED}),
    _S.AWAITING_APPROVAL: frozenset({_S.ACCEPTED, _S.REJECTED, _S.EXPIRED, _S.CANCELLED}),
    _S.NEEDS_PERSON: frozenset({_S.ACCEPTED, _S.REJECTED, _S.EXPIRED, _S.CANCELLED}),
}
WORKING = frozenset({_S.RECEIVED, _S.PREPARED, _S.QUEUED, _S.RUNNING, _S.CHECKING})
WAITING = frozenset({_S.AWAITING_APPROVAL, _S.NEEDS_PERSON})
TERMINAL = frozenset({_S.ACCEPTED, _S.FAILED, _S.REJECTED, _S.EXPIRED, _S.CANCELLED})
FORWARD = (_S.RECEIVED, _S.PREPARED, _S.QUEUED, _S.RUNNING, _S.CHECKING)


class BatchStatus(TextChoices):
    """Where a batch stands."""

    VALIDATING = "validating", _("Being read")
    IN_PROGRESS = "in_progress", _("In progress")
    PAUSED = "paused", _("Paused")
    FINALIZING = "finalizing", _("Results are being written")
    CANCELLING = "cancelling", _("Being cancelled")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Not taken")
    EXPIRED = "expired", _("Out of time")
    CANCELLED = "cancelled", _("Cancelled")


_B = BatchStatus
BATCH_MOVES: dict[str, frozenset[str]] = {
    _B.VALIDATING: frozenset({_B.IN_PROGRESS, _B.FAILED, _B.CANCELLING}),
    _B.IN_PROGRESS: frozenset({_B.PAUSED, _B.FINALIZING, _B.CANCELLING}),
    _B.PAUSED: frozenset({_B.IN_PROGRESS, _B.FINALIZING, _B.CANCELLING}),
    _B.FINALIZING: frozenset({_B.COMPLETED, _B.EXPIRED}),
    _B.CANCELLING: frozenset({_B.CANCELLED}),
}
BATCH_CLOSED = frozenset({_B.COMPLETED, _B.FAILED, _B.EXPIRED, _B.CANCELLED})


class ItemStatus(TextChoices):
    """Where one question of a batch stands."""

    PENDING = "pending", _("Waiting")
    LEASED = "leased", _("Being answered")
    DONE = "done", _("Answered")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    EXPIRED = "expired", _("Out of time")


_I = ItemStatus
ITEM_MOVES: dict[str, frozenset[str]] = {
    _I.PENDING: frozenset({_I.LEASED, _I.CANCELLED, _I.EXPIRED}),
    _I.LEASED: frozenset({_I.PENDING, _I.DONE, _I.FAILED, _I.CANCELLED, _I.EXPIRED}),
}
ITEM_OPEN = frozenset({_I.PENDING, _I.LEASED})


class Window(TextChoices):
    """How long a batch may take."""

    HOUR = "1h", _("1 hour")
    FOUR_HOURS = "4h", _("4 hours")
    DAY = "24h", _("24 hours")

    @property
    def hours(self) -> int:
        """Its length."""
        return int(self.value.removesuffix("h"))


class FilePurpose(TextChoices):
    """What a file of a batch holds."""

    INPUT = "batch", _("Questions")
    OUTPUT = "output", _("Answers")
    ERROR = "error", _("Failures")
