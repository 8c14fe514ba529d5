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


MOVES: dict[str, frozenset[str]] = {
    Status.PENDING: frozenset(
        {Status.APPROVED, Status.CHANGED, Status.REJECTED, Status.EXPIRED, Status.WITHDRAWN, Status.VOID}
    )
}
AFTER = {
    VerdictKind.APPROVE: Status.APPROVED,
    VerdictKind.CHANGE: Status.CHANGED,
    VerdictKind.REJECT: Status.REJECTED,
}
