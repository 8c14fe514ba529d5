"""The only writer of the audit chain. It writes in the transaction of the act, so that neither exists without the other."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from nekibu.audit.models import AuditEvent, AuditHead
from nekibu.audit.tags import AuditTag
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant


def record(actor: Actor, tag: AuditTag, subject: Any, **payload: Any) -> AuditEvent:
    """Append one row to the tenant's chain. `subject` is a saved model row; `payload` must be JSON and hold no CV text."""
    head = _locked_head()
    values = {
        "seq": head.seq + 1,
        "at": timezone.now(),
        "tag": str(tag),
        "actor": {
            "name": actor.name,
            "user_id": str(actor.user_id) if actor.user_id else None,
            "channel": actor.channel,
        },
        "subject_type": subject._meta.label_lower,
        "subject_id": str(subject.pk),
        "payload": json.loads(json.dumps(payload, cls=DjangoJSONEncoder)),
        "prev_hash": head.hash,
    }
    event = AuditEvent(**values, hash=digest(values))
    event.save(force_insert=True)
    AuditHead.objects.filter(pk=head.pk).update(seq=event.seq, hash=event.hash)
    return event


def digest(values: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a row's values, the previous hash included."""
    canonical = json.dumps(
        {**values, "at": values["at"].isoformat()}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _locked_head() -> AuditHead:
    head = AuditHead.objects.select_for_update().first()
    if head is None:
        AuditHead.objects.bulk_create([AuditHead(tenant_id=current_tenant())], ignore_conflicts=True)
        head = AuditHead.objects.select_for_update().get()
    return head
