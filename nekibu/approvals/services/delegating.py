"""Letting somebody decide in one's name: everything for a while, or one question."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals.authority import groups_of
from nekibu.approvals.errors import DelegationRefused
from nekibu.approvals.models import ApprovalRequest, Delegation
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.refusals import refusals_noted
from nekibu.approvals.rules import Handing, Obstacle, obstacle
from nekibu.approvals.selectors import colleagues
from nekibu.approvals.services.deciding import locked, refuse_unless_open
from nekibu.approvals.services.telling import tell
from nekibu.approvals.states import NoticeKind
from nekibu.audit.record import record
from nekibu.errors import Conflict, InvalidInput, NotFound, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.users.models import Membership, User

LONGEST = timedelta(days=366)
SINGLE = timedelta(days=30)  # for one question that never expires


@refusals_noted("delegate")
def delegate(
    *,
    actor: Actor,
    user_id: UUID,
    starts_at: datetime | None = None,
    ends_at: datetime,
    note: str = "",
    now: datetime | None = None,
) -> Delegation:
    """Let a colleague decide everything in one's own name, from a moment until a moment.

    Depth is one: whoever stands in hands nothing on. Raises DelegationRefused, InvalidInput, NotFound.
    """
    now = now or timezone.now()
    require(actor, ApprovalAction.DELEGATE)
    starts = starts_at or now
    if starts < now - timedelta(days=1) or ends_at <= now:
        raise _bad("ends_at", "past", _("This time is over."))
    if ends_at - starts > LONGEST:
        raise _bad("ends_at", "too_long", _("A delegation lasts a year at most."))
    return _hand(actor, user_id, max(starts, now), ends_at, note, None, now)


@refusals_noted("hand_over")
def hand_over(
    *, actor: Actor, approval_id: UUID, user_id: UUID, note: str = "", now: datetime | None = None
) -> Delegation:
    """Let a colleague decide this one question in one's own name. Only one's own right can be handed over."""
    now = now or timezone.now()
    require(actor, ApprovalAction.DELEGATE)
    request = locked(approval_id)
    refuse_unless_open(request, now)
    names = actor.roles | groups_of([actor.user_id] if actor.user_id else []).get(
        actor.user_id or UUID(int=0), frozenset()
    )
    if not (names & set(request.roles) or "admin" in names):
        raise NotPermitted(_("Only one's own right can be handed over, and this question is not yours."))
    made = _hand(actor, user_id, now, request.expires_at or now + SINGLE, note, request, now)
    request.assignee_id = user_id
    request.save(update_fields=["assignee"])
    return made


@refusals_noted("end_delegation")
def end_delegation(*, actor: Actor, delegation_id: UUID, now: datetime | None = None) -> Delegation:
    """End it at once: by whoever handed over, by whoever took it on, or by an administrator."""
    now = now or timezone.now()
    require(actor, ApprovalAction.DELEGATE)
    held = Delegation.objects.select_for_update().filter(pk=delegation_id).first()
    if held is None or not (actor.user_id in {held.principal_id, held.delegate_id} or "admin" in actor.roles):
        raise NotFound
    if held.ended_at is not None or held.ends_at <= now:
        raise Conflict(_("This delegation has ended."), code="delegation_ended")
    held.ended_at = now
    held.save(update_fields=["ended_at"])
    record(
        actor,
        ApprovalTag.DELEGATION_ENDED,
        held,
        principal=str(held.principal_id),
        delegate=str(held.delegate_id),
    )
    if held.request_id is not None:
        ApprovalRequest.objects.filter(
            pk=held.request_id, status="pending", assignee_id=held.delegate_id
        ).update(assignee=None)
    others = {held.principal_id, held.delegate_id} - {actor.user_id}
    tell(NoticeKind.DELEGATION_ENDED, others, None, by=actor.name)
    return held


def _hand(
    actor: Actor,
    user_id: UUID,
    starts: datetime,
    ends: datetime,
    note: str,
    request: ApprovalRequest | None,
    now: datetime,
) -> Delegation:
    if actor.user_id is None:
        raise NotPermitted(_("Only a person can hand over."))
    to = next((u for u in colleagues(ApprovalAction.DECIDE) if u.id == user_id), None)
    if to is None:
        raise NotFound(_("There is no such colleague who may decide."))
    _lock({actor.user_id, user_id})
    new = Handing(actor.user_id, user_id, starts, ends, request.id if request else None)
    refused = obstacle(new, list(_held_by({actor.user_id, user_id}, now)))
    if refused == "backwards":
        raise _bad("ends_at", "backwards", _("The end lies before the beginning."))
    if refused is not None:
        raise DelegationRefused(_words(refused, to), code=f"delegation_{refused}")
    made: Delegation = Delegation.objects.create(
        principal_id=actor.user_id,
        delegate=to,
        request=request,
        starts_at=starts,
        ends_at=ends,
        note=note.strip()[:300],
    )
    record(
        actor,
        ApprovalTag.DELEGATED,
        made,
        principal=str(actor.user_id),
        delegate=str(to.id),
        request=str(request.id) if request else None,
        starts_at=starts,
        ends_at=ends,
    )
    kind = NoticeKind.HANDED if request else NoticeKind.DELEGATED
    tell(kind, [to.id], request, by=actor.name, until=ends)
    return made


def _lock(people: set[UUID]) -> None:
    """Two delegations that meet in a person are checked one after the other."""
    list(Membership.objects.select_for_update().filter(user_id__in=people).order_by("id").values_list("id"))


def _held_by(people: set[UUID], now: datetime) -> Iterable[Handing]:
    rows = Delegation.objects.filter(
        Q(principal_id__in=people) | Q(delegate_id__in=people), ended_at=None, ends_at__gt=now
    )
    for row in rows:
        yield Handing(row.principal_id, row.delegate_id, row.starts_at, row.ends_at, row.request_id)


def _words(refused: Obstacle, to: User) -> str:
    return {
        "self": _("You cannot stand in for yourself."),
        "cycle": _("%(name)s has handed over to you in that time; one of you has to stay."),
        "chain": _(
            "One of you stands in for somebody else or is away in that time, and a delegation cannot be passed on."
        ),
        "twice": _("You have handed over to %(name)s for that time already."),
        "away": _("%(name)s is away in that time and has handed over as well."),
        "backwards": "",
    }[refused] % {"name": to.name}


def _bad(field: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(errors=[{"field": field, "code": code, "message": message}])
