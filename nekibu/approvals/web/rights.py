"""What the reader of a page may do, so that a page offers only what will work."""

from __future__ import annotations

from django.http import HttpRequest

from nekibu.approvals.permissions import ApprovalAction
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide


def actor_of(request: HttpRequest) -> Actor:
    """The reader of a page behind `page`; there is always one."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return actor


def may(actor: Actor, name: str) -> bool:
    """Whether the reader may do this act of approvals; the services check again."""
    return bool(decide(actor, ApprovalAction[name]))
