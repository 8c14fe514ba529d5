"""Single-use forms: what a page carries so that one showing of it can decide once, by that person, for a while."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from nekibu.approvals.models import ApprovalRequest, Nonce
from nekibu.errors import AlreadyDecided, Gone, NotFound
from nekibu.permissions.actor import Actor

LIFE = timedelta(hours=2)
KEPT = timedelta(
    days=1
)  # after its end, so that a late form is told that it is late and not that it is unknown


class FormExpired(Gone):
    """This form was open too long. Look at the question again and decide."""

    code = "form_expired"


class FormUsed(AlreadyDecided):
    """This form has been used."""

    code = "form_used"


class FormUnknown(NotFound):
    """This form is not known here. Open the question again."""

    code = "form_unknown"


def issue(requests: Sequence[ApprovalRequest], actor: Actor, now: datetime | None = None) -> dict[UUID, str]:
    """One nonce for each request, for this person; only their hashes are stored. Nobody else can decide by a form."""
    if actor.user_id is None:
        return {}
    end = (now or timezone.now()) + LIFE
    made = {request.id: secrets.token_urlsafe(24) for request in requests}
    Nonce.objects.bulk_create(
        Nonce(
            request=request,
            person_id=actor.user_id,
            digest=_digest(made[request.id]),
            params_hash=request.params_hash,
            expires_at=end,
        )
        for request in requests
    )
    return made


def spend(nonce: str, request: ApprovalRequest, actor: Actor, now: datetime) -> str:
    """Use a nonce up, and return its hash for the record. Raises FormUnknown, FormUsed or FormExpired."""
    held = Nonce.objects.filter(
        digest=_digest(nonce), request=request, person_id=actor.user_id, params_hash=request.params_hash
    ).first()
    if held is None:
        raise FormUnknown
    if held.used_at is not None:
        raise FormUsed
    if held.expires_at <= now:
        raise FormExpired
    if not Nonce.objects.filter(pk=held.pk, used_at=None).update(used_at=now):
        raise FormUsed
    return str(held.digest)


def forget(now: datetime) -> int:
    """Delete what ended a while ago in the tenant in scope."""
    return Nonce.objects.filter(expires_at__lt=now - KEPT).delete()[0]


def _digest(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()
