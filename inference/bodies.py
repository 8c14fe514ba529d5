"""Text at rest: each body is encrypted under a key of its own, derived from the master key and a salt kept with it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from inference.models import Body
from inference.types import canonical


def keep(decision_id: UUID, part: str, value: Mapping[str, Any]) -> str:
    """Encrypt and store, in place of an earlier body of this part. Returns the HMAC of the text under the body's key."""
    text = canonical(value).encode()
    salt = os.urandom(16)
    key = _key(decision_id, salt)
    Body.objects.update_or_create(
        decision_id=decision_id,
        part=part,
        defaults={"ciphertext": Fernet(key).encrypt(text), "key_salt": salt},
    )
    return hmac.new(key, text, hashlib.sha256).hexdigest()


def read(decision_id: UUID, part: str) -> dict[str, Any] | None:
    """What was stored, or None once it has been deleted."""
    return read_many([decision_id], part).get(decision_id)


def read_many(decision_ids: Iterable[UUID], part: str) -> dict[UUID, dict[str, Any]]:
    """What was stored for each of these decisions; one that is deleted is left out."""
    rows = Body.objects.filter(decision_id__in=list(decision_ids), part=part)
    return {
        row.decision_id: json.loads(
            Fernet(_key(row.decision_id, bytes(row.key_salt))).decrypt(bytes(row.ciphertext))
        )
        for row in rows
    }


def expire(decision_id: UUID, when: datetime) -> None:
    """Say when the bodies of a closed decision go. With a body goes its key."""
    Body.objects.filter(decision_id=decision_id).update(delete_after=when)


def delete_due(now: datetime) -> int:
    """Delete what is over its time in the tenant in scope."""
    return Body.objects.filter(delete_after__lte=now).delete()[0]


def _key(decision_id: UUID, salt: bytes) -> bytes:
    derived = HKDF(SHA256(), 32, salt, b"nekibu body " + decision_id.bytes).derive(
        settings.INFERENCE_BODY_KEY.encode()
    )
    return base64.urlsafe_b64encode(derived)
