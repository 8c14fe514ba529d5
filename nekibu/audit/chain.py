"""Verification of the audit chain."""

from __future__ import annotations

from dataclasses import dataclass

from nekibu.audit.models import AuditEvent, AuditHead
from nekibu.audit.record import digest


@dataclass(frozen=True, slots=True)
class ChainReport:
    """`events` verified rows; `broken_at` is the sequence number of the first row that does not fit, else None."""

    events: int
    broken_at: int | None


def verify_chain() -> ChainReport:
    """Recompute every hash of the tenant in scope, and compare the end with the stored head."""
    expected, count = "", 0
    for event in AuditEvent.objects.order_by("seq").iterator():
        count += 1
        values = {
            name: getattr(event, name)
            for name in ("seq", "at", "tag", "actor", "subject_type", "subject_id", "payload", "prev_hash")
        }
        if event.seq != count or event.prev_hash != expected or event.hash != digest(values):
            return ChainReport(count, event.seq)
        expected = event.hash
    head = AuditHead.objects.first()
    if head is not None and (head.seq, head.hash) != (count, expected):
        return ChainReport(count, count + 1)
    return ChainReport(count, None)
