"""What follows a decision, by kind of request: products register it when they are ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nekibu.permissions.actor import Actor

if TYPE_CHECKING:
    from nekibu.approvals.models import ApprovalRequest, Verdict


@dataclass(frozen=True, slots=True)
class Handler:
    """`on_decided` runs in the transaction of the verdict; `check_value` raises InvalidInput for an impossible change."""

    on_decided: Callable[[Actor, ApprovalRequest, Verdict], None]
    on_expired: Callable[[Actor, ApprovalRequest], None]
    check_value: Callable[[ApprovalRequest, Any], None]


_handlers: dict[str, Handler] = {}


def register(kind: str, handler: Handler) -> None:
    """Name what follows requests of this kind."""
    _handlers[kind] = handler


def handler_of(kind: str) -> Handler:
    """Raises KeyError for a kind that nobody registered: a programming error."""
    return _handlers[kind]
