"""What a request is bound to: its parameters by hash, and everything that the decision stands on by this installation's secret."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.rules import canonical, digest


def plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as the database gives them back: ids, money and dates as text."""
    value: dict[str, Any] = json.loads(json.dumps(parameters, cls=DjangoJSONEncoder))
    return value


def params_hash(parameters: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of what is to be decided."""
    return digest(plain(parameters))


def seal_of(request: ApprovalRequest, secret: str | None = None) -> str:
    """Over requester, context, who may decide, how many, until when and what; under a key that only the application knows."""
    bound = {
        "id": str(request.id),
        "tenant": str(request.tenant_id),
        "kind": request.kind,
        "subject": [request.subject_type, request.subject_id],
        "context": [request.group_key, request.url],
        "requester": [request.requested_by, str(request.requester_id or "")],
        "editors": request.editors,
        "roles": request.roles,
        "quorum": request.quorum,
        "four_eyes": request.four_eyes,
        "risk": request.risk,
        "expires_at": request.expires_at.isoformat() if request.expires_at else None,
        "supersedes": str(request.supersedes_id or ""),
        "params_hash": request.params_hash,
    }
    key = hashlib.sha256(b"nekibu approval seal " + (secret or settings.SECRET_KEY).encode()).digest()
    return hmac.new(key, canonical(bound).encode(), hashlib.sha256).hexdigest()


def intact(request: ApprovalRequest) -> bool:
    """Whether the row is what was asked: its parameters have its hash, and its seal fits under a secret of now or before."""
    if digest(request.parameters) != request.params_hash:
        return False
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return any(hmac.compare_digest(seal_of(request, str(secret)), request.seal) for secret in secrets)
