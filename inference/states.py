"""The states of a decision and the moves between them. Terminal states never change."""

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
