"""Which role may do what: apps grant their acts here when they are ready."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

from nekibu.permissions.actions import Action, known_actions

ROLES = {
    "admin": _("Administrator"),
    "recruiter": _("Recruiter"),
    "reviewer": _("Reviewer"),
    "hiring_manager": _("Hiring manager"),
    "interviewer": _("Interviewer"),
    "auditor": _("Auditor"),
}
_grants: dict[str, set[str]] = {role: set() for role in (*ROLES, "system")}


def grant(role: str, *actions: Action) -> None:
    """Let a role do these acts. An unknown role is a programming error."""
    _grants[role].update(actions)


def granted(roles: Iterable[str]) -> frozenset[str]:
    """All acts that these roles may do. An administrator and the system may do everything that exists."""
    held = set(roles)
    if held & {"admin", "system"}:
        return frozenset(known_actions())
    return frozenset().union(*(_grants.get(role, set()) for role in held))
