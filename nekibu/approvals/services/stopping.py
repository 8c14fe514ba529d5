"""The kill switch: nothing is decided while it is engaged, and what was agreed but not carried out yet becomes void."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals.models import ApprovalRequest, Stop
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.refusals import refusals_noted
from nekibu.approvals.registry import handler_of
from nekibu.approvals.states import AGREED, MOVES, Status
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.errors import Conflict, InvalidInput, NotFound
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require


@refusals_noted("stop")
def stop(*, actor: Actor, reason: str, kind: str = "") -> Stop:
    """Engage the switch for a kind, or for all. Questions stay where they are; only deciding stops."""
    require(actor, ApprovalAction.STOP)
    if not reason.strip():
        raise InvalidInput(
            errors=[
                {
                    "field": "reason",
                    "code": "required",
                    "message": _("Give a reason; it stays in the record."),
                }
            ]
        )
    if Stop.objects.filter(kind=kind, released_at=None).exists():
        raise Conflict(_("Deciding has been stopped already."), code="already_stopped")
    made: Stop = Stop.objects.create(kind=kind, reason=reason.strip()[:300], engaged_by_id=actor.user_id)
    agreed = ApprovalRequest.objects.filter(status__in=AGREED, executed_at=None, superseded_by=None)
    rows = agreed.filter(kind=kind) if kind else agreed
    voided = 0
    for request in rows.select_for_update(of=("self",)).order_by("id"):
        move(request, Status.VOID, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, note="deciding_stopped")
        handler_of(request.kind).on_void(actor, request)
        voided += 1
    record(actor, ApprovalTag.STOPPED, made, kind=kind, voided=voided)
    return made


@refusals_noted("release")
def release(*, actor: Actor, stop_id: UUID) -> Stop:
    """Let people decide again. What became void stays void."""
    require(actor, ApprovalAction.STOP)
    held = Stop.objects.select_for_update().filter(pk=stop_id, released_at=None).first()
    if held is None:
        raise NotFound
    held.released_at = timezone.now()
    held.save(update_fields=["released_at"])
    record(actor, ApprovalTag.RELEASED, held, kind=held.kind)
    return held
