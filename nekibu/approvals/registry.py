"""What follows a decision and how it is asked for, by kind of request: products register it when they are ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from nekibu.errors import InvalidInput
from nekibu.permissions.actor import Actor

if TYPE_CHECKING:
    from nekibu.approvals.models import ApprovalRequest, Verdict


def _as_stored(request: ApprovalRequest) -> dict[str, Any] | None:
    return dict(request.parameters)


def _unchangeable(request: ApprovalRequest, value: Any) -> dict[str, Any]:
    raise InvalidInput(
        errors=[
            {
                "field": "verdict",
                "code": "unchangeable",
                "message": _("This can only be approved or rejected."),
            }
        ]
    )


def _nothing(*_about: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Handler:
    """What a kind of request promises. Everything runs in the transaction of the word.

    `on_decided` carries the word out, `on_expired` blocks. `current` recomputes the parameters from what is true now (None:
    there is nothing to decide any more); they are compared before anything is carried out. `amended` gives the parameters
    with a person's change and raises InvalidInput for an impossible one. `ask_again` puts the question anew in place of an
    old request: with the facts of now, or with a person's change that several people have to agree to. `lock` takes the
    product's row before the request's, in the order in which the product takes them. With `at_once` false the product
    calls `services.execute` later, and until then the kill switch can void it (`on_void`).
    """

    on_decided: Callable[[Actor, ApprovalRequest, Verdict], None]
    on_expired: Callable[[Actor, ApprovalRequest], None] = _nothing
    current: Callable[[ApprovalRequest], dict[str, Any] | None] = _as_stored
    amended: Callable[[ApprovalRequest, Any], dict[str, Any]] = _unchangeable
    ask_again: Callable[[Actor, ApprovalRequest, Any], ApprovalRequest | None] = _nothing
    lock: Callable[[ApprovalRequest], None] = _nothing
    on_void: Callable[[Actor, ApprovalRequest], None] = _nothing
    at_once: bool = True


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

    `reason` says a reason's code in words, `told` a sentence of the record in the reader's language. `answers` are the
    codes that may be given in place of the proposal. `change` builds the changed value from an answer, the passages chosen
    for it and the reason. `questions` says for many requests at once what is asked, in the reader's language; a request
    that it leaves out is shown by its title. `approvable` is false where there is nothing to agree with. `effects` says in
    words what is carried out when it is approved, `background` how the proposal came about (engine, model, cost).
    """

    reason: Callable[[str], str] = str
    told: Callable[[str], str] = str
    answers: Callable[[ApprovalRequest], list[str]] = lambda request: []
    change: Callable[[ApprovalRequest, str, list[str], str], Any] = lambda request, answer, passages, reason: {
        "answer": answer
    }
    questions: Callable[[Sequence[ApprovalRequest]], dict[UUID, str]] = lambda requests: {}
    approvable: Callable[[ApprovalRequest], bool] = lambda request: True
    effects: Callable[[ApprovalRequest], list[tuple[str, str]]] = lambda request: []
    background: Callable[[ApprovalRequest], list[tuple[str, str]]] = lambda request: []


_desks: dict[str, Desk] = {}


def register_desk(kind: str, desk: Desk) -> None:
    """Name how requests of this kind are shown."""
    _desks[kind] = desk


def desk_of(kind: str) -> Desk:
    """A kind without a desk is shown plainly: its codes as they are, nothing but yes and no."""
    return _desks.get(kind) or Desk()
