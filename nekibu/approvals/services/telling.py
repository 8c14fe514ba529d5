"""Telling people what they did not ask for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from nekibu.approvals.models import ApprovalRequest, Notice
from nekibu.approvals.states import NoticeKind
from nekibu.permissions.actor import Actor


def tell(
    kind: NoticeKind, people: Iterable[UUID | None], request: ApprovalRequest | None, **facts: Any
) -> None:
    """One notice for each of them."""
    Notice.objects.bulk_create(
        Notice(person_id=person, kind=kind, request=request, facts=facts)
        for person in sorted({p for p in people if p is not None})
    )


def tell_how_many(kind: NoticeKind, counts: dict[UUID, int], oldest: dict[UUID, datetime]) -> None:
    """One notice a person, however many questions; one that is still unread grows instead of being joined by another."""
    held = {n.person_id: n for n in Notice.objects.filter(kind=kind, person_id__in=counts, read_at=None)}
    fresh = []
    for person, n in sorted(counts.items()):
        facts = {"n": n, "oldest": oldest[person].isoformat()}
        known = held.get(person)
        if known is None:
            fresh.append(Notice(person_id=person, kind=kind, facts=facts))
        else:
            before = known.facts
            grown = kind == NoticeKind.EXPIRED
            known.facts = {
                "n": n + before["n"] if grown else n,
                "oldest": min(before["oldest"], facts["oldest"]) if grown else facts["oldest"],
            }
            known.save(update_fields=["facts"])
    Notice.objects.bulk_create(fresh)


def mark_read(*, actor: Actor) -> int:
    """Everything that this person was told has been read."""
    return Notice.objects.filter(person_id=actor.user_id, read_at=None).update(read_at=timezone.now())
