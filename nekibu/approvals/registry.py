"""What follows a decision and how it is asked for, by kind of request: products register it when they are ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

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


@dataclass(frozen=True, slots=True)
class Desk:
    """How a kind of request is put before a person.

    `reason` says a reason's code in words, `told` a sentence of the record in the reader's language. `answers` are the codes that may be given in place of the proposal.
    `change` builds the changed value from an answer, the passages chosen for it and the reason. `questions` says for
    many requests at once what is asked, in the reader's language; a request that it leaves out is shown by its title.
    """

    reason: Callable[[str], str] = str
    told: Callable[[str], str] = str
    answers: Callable[[ApprovalRequest], list[str]] = lambda request: []
    change: Callable[[ApprovalRequest, str, list[str], str], Any] = lambda request, answer, passages, reason: {
        "answer": answer
    }
    questions: Callable[[Sequence[ApprovalRequest]], dict[UUID, str]] = lambda requests: {}


_desks: dict[str, Desk] = {}


def register_desk(kind: str, desk: Desk) -> None:
    """Name how requests of this kind are shown."""
    _desks[kind] = desk


def desk_of(kind: str) -> Desk:
    """A kind without a desk is shown plainly: its codes as they are, nothing but yes and no."""
    return _desks.get(kind) or Desk()
