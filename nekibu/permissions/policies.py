"""The one decision about rights: may this actor do this act to this subject, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nekibu.errors import NotFound, NotPermitted
from nekibu.permissions.actions import Action
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import granted


@dataclass(frozen=True, slots=True)
class Allowed:
    """The act may be done."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Denied:
    """The act may not be done; `reason` is one of `foreign_tenant`, `token_scope`, `role`."""

    reason: str

    def __bool__(self) -> bool:
        return False


def decide(actor: Actor, action: Action, subject: Any = None) -> Allowed | Denied:
    """May `actor` do `action` (to `subject`, a row with a tenant)? The order of the checks tells nothing of foreign rows."""
    if subject is not None and getattr(subject, "tenant_id", actor.tenant_id) != actor.tenant_id:
        return Denied("foreign_tenant")
    if actor.scopes is not None and action not in actor.scopes:
        return Denied("token_scope")
    if action not in granted(actor.roles):
        return Denied("role")
    return Allowed()


def require(actor: Actor, action: Action, subject: Any = None) -> None:
    """`decide`, raised: NotFound for another tenant's row, NotPermitted otherwise."""
    verdict = decide(actor, action, subject)
    if isinstance(verdict, Denied):
        if verdict.reason == "foreign_tenant":
            raise NotFound
        raise NotPermitted(action=str(action), reason=verdict.reason)
