"""States of a request for approval, and its moves. Time running out blocks; it never approves."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Status(TextChoices):
    """Where a request stands."""

    PENDING = "pending", _("Waiting")
    APPROVED = "approved", _("Approved")
    CHANGED = "changed", _("Changed")
    REJECTED = "rejected", _("Rejected")
    EXPIRED = "expired", _("Expired")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    VOID = "void", _("Void")


class VerdictKind(TextChoices):
    """What a person may say."""

    APPROVE = "approve", _("Approve")
    CHANGE = "change", _("Change")
    REJECT = "reject", _("Reject")


# What was approved and has not been carried out yet can still become void; what was carried out never moves again.
MOVES: dict[str, frozenset[str]] = {
    Status.PENDING: frozenset(
        {Status.APPROVED, Status.CHANGED, Status.REJECTED, Status.EXPIRED, Status.WITHDRAWN, Status.VOID}
    ),
    Status.APPROVED: frozenset({Status.VOID}),
    Status.CHANGED: frozenset({Status.VOID}),
}
AFTER = {
    VerdictKind.APPROVE: Status.APPROVED,
    VerdictKind.CHANGE: Status.CHANGED,
    VerdictKind.REJECT: Status.REJECTED,
}
AGREED = frozenset({Status.APPROVED, Status.CHANGED})
CLOSED = frozenset(Status.values) - {Status.PENDING}


class NoticeKind(TextChoices):
    """What a person is told without having asked."""

    GIVEN = "given", _("A question was given to you")
    HANDED = "handed", _("A question was handed to you")
    DELEGATED = "delegated", _("Somebody's questions were handed over to you")
    DELEGATION_ENDED = "delegation_ended", _("A delegation has ended")
    SPOKEN_FOR = "spoken_for", _("Somebody decided in your name")
    REMINDER = "reminder", _("Questions wait")
    EXPIRED = "expired", _("Questions expired")
    ASKED_AGAIN = "asked_again", _("A question had to be asked again")


# These speak of what waits in the inbox anyway, so they do not count a second time.
SILENT = frozenset({NoticeKind.GIVEN, NoticeKind.HANDED, NoticeKind.REMINDER})
