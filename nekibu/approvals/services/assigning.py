"""Giving questions to people, one or many, and taking that back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.refusals import refusals_noted
from nekibu.approvals.selectors import colleagues
from nekibu.approvals.services.deciding import locked, refuse_unless_open
from nekibu.approvals.services.telling import tell
from nekibu.approvals.states import NoticeKind, Status
from nekibu.audit.record import record
from nekibu.errors import InvalidInput, NotFound
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.users.models import User

MOST = 200


@refusals_noted("assign")
def assign(*, actor: Actor, approval_id: UUID, user_id: UUID | None) -> ApprovalRequest:
    """Give a pending request to a person of the tenant, or back to everybody."""
    require(actor, ApprovalAction.ASSIGN)
    request = locked(approval_id)
    person = _person(user_id)
    refuse_unless_open(request, timezone.now())
    _give(actor, request, person)
    if person is not None and person.id != actor.user_id:
        tell(NoticeKind.GIVEN, [person.id], request, by=actor.name)
    return request


@refusals_noted("assign_many")
def assign_many(
    *, actor: Actor, approval_ids: Sequence[UUID], user_id: UUID | None
) -> dict[UUID, UUID | None]:
    """Give those of these requests that still wait to a person. Returns who held each of them before, for the way back."""
    require(actor, ApprovalAction.ASSIGN)
    if not 0 < len(approval_ids) <= MOST:
        raise InvalidInput(
            errors=[
                {
                    "field": "ids",
                    "code": "number",
                    "message": _("Choose between 1 and %(most)s questions.") % {"most": MOST},
                }
            ]
        )
    person = _person(user_id)
    return _give_many(actor, dict.fromkeys(approval_ids, person.id if person else None))


@refusals_noted("assign_back")
def assign_back(*, actor: Actor, before: Mapping[UUID, UUID | None]) -> int:
    """Undo `assign_many` for those requests that still wait. Returns how many."""
    require(actor, ApprovalAction.ASSIGN)
    return len(_give_many(actor, before))


def _give_many(actor: Actor, to: Mapping[UUID, UUID | None]) -> dict[UUID, UUID | None]:
    people = {u.id: u for u in User.objects.filter(pk__in={u for u in to.values() if u}, is_active=True)}
    before: dict[UUID, UUID | None] = {}
    rows = ApprovalRequest.objects.select_for_update(of=("self",)).filter(
        pk__in=list(to), status=Status.PENDING
    )
    for request in rows.order_by("id"):
        before[request.id] = request.assignee_id
        _give(actor, request, people.get(to[request.id]) if to[request.id] else None)  # type: ignore[arg-type]
    if not before:
        raise NotFound(_("None of these questions waits any more."))
    for person in people.values():
        if person.id != actor.user_id:
            tell(
                NoticeKind.GIVEN, [person.id], None, by=actor.name, n=sum(to[i] == person.id for i in before)
            )
    return before


def _give(actor: Actor, request: ApprovalRequest, person: User | None) -> None:
    if request.assignee_id == (person.id if person else None):
        return
    request.assignee = person
    request.save(update_fields=["assignee"])
    record(actor, ApprovalTag.ASSIGNED, request, assignee=str(person.id) if person else None)


def _person(user_id: UUID | None) -> User | None:
    """Somebody of the tenant who may decide. Raises NotFound for anybody else."""
    if user_id is None:
        return None
    found = next((u for u in colleagues(ApprovalAction.DECIDE) if u.id == user_id), None)
    if found is None:
        raise NotFound(_("There is no such colleague who may decide."))
    return found
