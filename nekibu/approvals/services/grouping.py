"""Groups: people who decide together, whatever their roles."""

from __future__ import annotations

import re
from uuid import UUID

from django.utils.translation import gettext as _

from nekibu.approvals.models import Group, GroupMember
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.refusals import refusals_noted
from nekibu.approvals.selectors import colleagues
from nekibu.audit.record import record
from nekibu.errors import Conflict, InvalidInput, NotFound
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.permissions.roles import ROLES

KEY = re.compile(r"[a-z][a-z0-9-]{1,38}[a-z0-9]")


@refusals_noted("create_group")
def create_group(*, actor: Actor, key: str, name: str) -> Group:
    """A new group. Its key is what requests name; a role's name is taken."""
    require(actor, ApprovalAction.GROUPS)
    errors = []
    if not KEY.fullmatch(key) or key in ROLES:
        errors.append(
            {
                "field": "key",
                "code": "invalid",
                "message": _("Small letters, digits and hyphens; no role's name."),
            }
        )
    if not name.strip():
        errors.append({"field": "name", "code": "required", "message": _("The group needs a name.")})
    if errors:
        raise InvalidInput(errors=errors)
    if Group.objects.filter(key=key).exists():
        raise Conflict(_("There is a group with this key already."), code="group_exists")
    made: Group = Group.objects.create(key=key, name=name.strip()[:120])
    record(actor, ApprovalTag.GROUP_CREATED, made, key=key)
    return made


@refusals_noted("join_group")
def join_group(*, actor: Actor, group_id: UUID, user_id: UUID) -> GroupMember:
    """Add a colleague who may decide; a second time changes nothing."""
    require(actor, ApprovalAction.GROUPS)
    group = Group.objects.select_for_update().filter(pk=group_id).first()
    person = next((u for u in colleagues(ApprovalAction.DECIDE) if u.id == user_id), None)
    if group is None or person is None:
        raise NotFound
    member, made = GroupMember.objects.get_or_create(group=group, person=person)
    if made:
        record(actor, ApprovalTag.GROUP_JOINED, group, person=str(user_id))
    return member


@refusals_noted("leave_group")
def leave_group(*, actor: Actor, group_id: UUID, user_id: UUID) -> None:
    """Take a person out of a group."""
    require(actor, ApprovalAction.GROUPS)
    group = Group.objects.select_for_update().filter(pk=group_id).first()
    if group is None or not GroupMember.objects.filter(group=group, person_id=user_id).delete()[0]:
        raise NotFound
    record(actor, ApprovalTag.GROUP_LEFT, group, person=str(user_id))
