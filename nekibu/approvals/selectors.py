"""Reads of the inbox."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.states import Status
from nekibu.permissions.actor import Actor


def inbox_for(actor: Actor) -> QuerySet[ApprovalRequest]:
    """Pending requests that this actor may decide, oldest first; those given to somebody else are left out."""
    rows = ApprovalRequest.objects.filter(status=Status.PENDING)
    if not actor.roles & {"admin", "auditor"}:
        mine = Q()
        for role in actor.roles:
            mine |= Q(roles__contains=[role])
        rows = rows.filter(mine).filter(Q(assignee__isnull=True) | Q(assignee_id=actor.user_id))
    return rows.select_related("assignee").order_by("id")


def requests_for(actor: Actor) -> QuerySet[ApprovalRequest]:
    """All requests of the tenant, newest first, with the words given."""
    return (
        ApprovalRequest.objects.select_related("assignee")
        .prefetch_related("verdicts__person")
        .order_by("-id")
    )
