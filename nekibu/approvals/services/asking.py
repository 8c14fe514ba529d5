"""Putting a question to people, and taking it back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalTag
from nekibu.approvals.registry import handler_of
from nekibu.approvals.rules import digest, next_reminder
from nekibu.approvals.sealing import plain, seal_of
from nekibu.approvals.states import MOVES, Status
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.ids import new_id
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant


def request_approval(
    *,
    actor: Actor,
    kind: str,
    subject_type: str,
    subject_id: str,
    title: str,
    reasons: list[str],
    parameters: dict[str, Any],
    roles: list[str],
    quorum: int = 1,
    four_eyes: bool = False,
    risk: str = "",
    url: str = "",
    group_key: str = "",
    group_title: str = "",
    due_at: datetime | None = None,
    expires_at: datetime | None = None,
    requester: Actor | None = None,
    supersedes: ApprovalRequest | None = None,
    editors: Iterable[UUID] = (),
    now: datetime | None = None,
) -> ApprovalRequest:
    """Ask people of `roles` (roles or groups) about exactly these parameters; a pending request for the subject is returned.

    `requester` is who asked in the first place, where another act puts the question again in place of `supersedes`.
    """
    handler_of(kind)
    pending = ApprovalRequest.objects.filter(kind=kind, subject_id=subject_id, status=Status.PENDING).first()
    if pending is not None:
        return pending
    now = now or timezone.now()
    asker = requester or actor
    exact = plain(parameters)
    request = ApprovalRequest(
        id=new_id(),
        tenant_id=current_tenant(),
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        title=title[:300],
        group_key=group_key,
        group_title=group_title[:300],
        url=url,
        reasons=reasons,
        parameters=exact,
        params_hash=digest(exact),
        roles=list(roles),
        quorum=quorum,
        four_eyes=four_eyes,
        risk=risk,
        requested_by={"name": asker.name, "channel": asker.channel},
        requester_id=asker.user_id,
        editors=[str(one) for one in editors],
        assignee_id=supersedes.assignee_id if supersedes else None,
        supersedes=supersedes,
        due_at=due_at,
        expires_at=expires_at,
        remind_at=next_reminder(now, expires_at, now),
    )
    request.seal = seal_of(request)
    request.save(force_insert=True)
    record(
        actor,
        ApprovalTag.REQUESTED,
        request,
        kind=kind,
        about=subject_id,
        reasons=reasons,
        roles=request.roles,
        quorum=quorum,
        four_eyes=four_eyes,
        risk=risk,
        params_hash=request.params_hash,
        supersedes=supersedes.id if supersedes else None,
    )
    return request


def withdraw(*, actor: Actor, kind: str, subject_id: str, note: str) -> int:
    """Take back what is still pending for a subject (it was replaced or cancelled). Returns how many."""
    taken = 0
    for request in ApprovalRequest.objects.select_for_update().filter(
        kind=kind, subject_id=subject_id, status=Status.PENDING
    ):
        move(request, Status.WITHDRAWN, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, note=note)
        taken += 1
    return taken
