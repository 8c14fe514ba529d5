"""What time does: it reminds, it blocks, it never approves. Each question in a transaction of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from nekibu.approvals import nonces
from nekibu.approvals.authority import people_of
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalTag
from nekibu.approvals.registry import handler_of
from nekibu.approvals.rules import next_reminder
from nekibu.approvals.services.telling import tell_how_many
from nekibu.approvals.states import MOVES, NoticeKind, Status
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.errors import NekibuError
from nekibu.permissions.actor import Actor

log = logging.getLogger(__name__)
MOST = 200  # of one tenant in one round; the next round takes the rest


def expire_due(*, actor: Actor, now: datetime | None = None) -> int:
    """Block what nobody decided in time. Returns how many. A question that somebody is deciding is left to them."""
    now = now or timezone.now()
    due = ApprovalRequest.objects.filter(status=Status.PENDING, expires_at__lte=now).order_by(
        "expires_at", "id"
    )
    counts: dict[UUID, int] = {}
    oldest: dict[UUID, datetime] = {}
    expired = 0
    for approval_id in list(due.values_list("id", flat=True)[:MOST]):
        request = _one(approval_id, lambda request: _expire(actor, request, now))
        if request is not None:
            expired += 1
            for person in {p for p in (request.requester_id, request.assignee_id) if p is not None}:
                counts[person] = counts.get(person, 0) + 1
                oldest[person] = min(oldest.get(person, request.created_at), request.created_at)
    tell_how_many(NoticeKind.EXPIRED, counts, oldest)
    nonces.forget(now)
    return expired


def remind_due(*, actor: Actor, now: datetime | None = None) -> int:
    """Remind of what waits too long: whoever was given it, else everybody who may decide it. Returns how many questions.

    A person gets one notice, however many questions it is about.
    """
    now = now or timezone.now()
    due = ApprovalRequest.objects.filter(status=Status.PENDING, remind_at__lte=now).order_by(
        "remind_at", "id"
    )
    audiences: dict[tuple[str, ...], list[UUID]] = {}
    counts: dict[UUID, int] = {}
    oldest: dict[UUID, datetime] = {}
    reminded = 0
    for approval_id in list(due.values_list("id", flat=True)[:MOST]):
        request = _one(approval_id, lambda request: _remind(actor, request, now))
        if request is None:
            continue
        reminded += 1
        names = tuple(sorted(request.roles))
        if request.assignee_id is None and names not in audiences:
            audiences[names] = list(people_of(names).values_list("id", flat=True))
        for person in [request.assignee_id] if request.assignee_id else audiences[names]:
            counts[person] = counts.get(person, 0) + 1
            oldest[person] = min(oldest.get(person, request.created_at), request.created_at)
    tell_how_many(NoticeKind.REMINDER, counts, oldest)
    return reminded


def _one(approval_id: UUID, act: Callable[[ApprovalRequest], bool]) -> ApprovalRequest | None:
    """Do `act` with one locked request; a promise of its product that breaks leaves the others alone."""
    seen = ApprovalRequest.objects.filter(pk=approval_id).first()
    if seen is None:
        return None
    try:
        with transaction.atomic():
            handler_of(seen.kind).lock(seen)
            rows = ApprovalRequest.objects.select_for_update(of=("self",), skip_locked=True)
            request = rows.filter(pk=approval_id, status=Status.PENDING).first()
            return request if request is not None and act(request) else None
    except NekibuError as broken:
        log.warning("approval %s: %s", approval_id, broken.error_code)
        return None


def _expire(actor: Actor, request: ApprovalRequest, now: datetime) -> bool:
    if request.expires_at is None or request.expires_at > now:
        return False
    move(request, Status.EXPIRED, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, decided_at=now)
    handler_of(request.kind).on_expired(actor, request)
    return True


def _remind(actor: Actor, request: ApprovalRequest, now: datetime) -> bool:
    if request.remind_at is None or request.remind_at > now:
        return False
    request.remind_at = next_reminder(request.created_at, request.expires_at, now)
    request.reminded_at = now
    request.save(update_fields=["remind_at", "reminded_at"])
    record(actor, ApprovalTag.REMINDED, request, next=request.remind_at)
    return True
