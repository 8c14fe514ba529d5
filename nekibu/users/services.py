"""Acts on people: membership and tokens."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from nekibu.audit.record import record
from nekibu.audit.tags import AuditTag
from nekibu.permissions.actions import Action
from nekibu.permissions.actor import Actor
from nekibu.users.authentication import PREFIX, digest_of
from nekibu.users.models import ApiToken, Membership, User


class UserTag(AuditTag):
    """What is written about people."""

    MEMBER_ADDED = "users:membership:added"
    TOKEN_CREATED = "users:token:created"
    TOKEN_REVOKED = "users:token:revoked"


def add_member(*, actor: Actor, user: User, role: str) -> Membership:
    """Give a person a role in the tenant in scope; the same role twice is one membership."""
    membership, created = Membership.objects.get_or_create(user=user, role=role)
    if created:
        record(actor, UserTag.MEMBER_ADDED, membership, user=str(user.id), role=role)
    return membership


def create_token(
    *, actor: Actor, user: User, name: str, scopes: Iterable[Action], days: int | None = None
) -> str:
    """A new token for `user` in the tenant in scope. The text is returned once and never stored."""
    token = PREFIX + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest_of(token),
        hint=token[:8],
        scopes=sorted(str(scope) for scope in scopes),
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    record(actor, UserTag.TOKEN_CREATED, row, name=name, scopes=row.scopes)
    return token


def revoke_token(*, actor: Actor, token: ApiToken) -> None:
    """Make a token useless at once."""
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    record(actor, UserTag.TOKEN_REVOKED, token, name=token.name)
