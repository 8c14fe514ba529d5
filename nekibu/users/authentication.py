"""From a session or a token to an actor. Nothing else in the project decides who somebody is."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.errors import NotSignedIn
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import set_local
from nekibu.users.models import ApiToken, Membership, User

PREFIX = "nkb_"


def digest_of(token: str) -> str:
    """How a token is stored: SHA-256 of its text (it is 256 random bits, so no salt is needed)."""
    return hashlib.sha256(token.encode()).hexdigest()


def actor_of(request: HttpRequest) -> Actor | None:
    """The actor of a request: a bearer token first, then the session; None for a stranger. A bad token is an error."""
    header = request.headers.get("Authorization", "")
    if header:
        return actor_of_token(header)
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        return None
    return actor_of_user(user, request.session.get("tenant"))


def actor_of_token(header: str) -> Actor:
    """`Bearer nkb_…` → the actor. Raises NotSignedIn for anything else, expired and revoked tokens too."""
    kind, _space, token = header.partition(" ")
    if kind.lower() != "bearer" or not token.startswith(PREFIX):
        raise NotSignedIn(_("The Authorization header must be “Bearer nkb_…”."))
    digest = digest_of(token.strip())
    with transaction.atomic():
        set_local("app.token_digest", digest)
        row = ApiToken.everywhere.select_related("user").filter(digest=digest).first()
        set_local("app.token_digest", "")
    now = timezone.now()
    if row is None or row.revoked_at or (row.expires_at and row.expires_at <= now) or not row.user.is_active:
        raise NotSignedIn(_("This token is unknown, expired or revoked. Create a new one."))
    roles = [m.role for m in _memberships(row.user) if m.tenant_id == row.tenant_id]
    if not roles:
        raise NotSignedIn(_("The person behind this token no longer belongs to the company."))
    return Actor(
        tenant_id=row.tenant_id,
        name=row.user.name,
        user_id=row.user_id,
        roles=frozenset(roles),
        scopes=frozenset(row.scopes),
        channel="api",
    )


def actor_of_user(user: User, tenant: str | None = None) -> Actor | None:
    """A signed-in person in the chosen tenant, or in the first one; None without a membership."""
    rows = _memberships(user)
    if not rows:
        return None
    chosen = next((r.tenant_id for r in rows if tenant and r.tenant_id == UUID(tenant)), rows[0].tenant_id)
    return Actor(
        tenant_id=chosen,
        name=user.name,
        user_id=user.id,
        roles=frozenset(r.role for r in rows if r.tenant_id == chosen),
        channel="web",
    )


def _memberships(user: User) -> list[Membership]:
    with transaction.atomic():
        set_local("app.user", str(user.id))
        rows = list(Membership.everywhere.filter(user=user).order_by("id"))
        set_local("app.user", "")
    return rows
