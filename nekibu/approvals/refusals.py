"""What was refused. A refusal rolls its act back, so it is written afterwards, in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.db import models, transaction

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalTag
from nekibu.audit.record import record
from nekibu.errors import NekibuError
from nekibu.permissions.actor import Actor
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope

T = TypeVar("T")
SAID = ("verdict", "reason_code", "params", "user_id")  # of what was sent; never a reason's words or a value


@dataclass(frozen=True, slots=True)
class Refusal:
    """An act that was refused: which, about what, by which promise, with which status."""

    actor: Actor
    act: str
    code: str
    status: int
    approval_id: UUID | None = None
    sent: dict[str, Any] = field(default_factory=dict)


_open: ContextVar[list[Refusal] | None] = ContextVar("approval_refusals", default=None)


@contextmanager
def collected() -> Iterator[list[Refusal]]:
    """Hold refusals back until the transaction of the request is over; whoever opened this writes them then."""
    found: list[Refusal] = []
    token = _open.set(found)
    try:
        yield found
    finally:
        _open.reset(token)


def note(refusal: Refusal) -> None:
    """Keep a refusal: for the end of the request, or, where nobody collects, in the caller's transaction."""
    collector = _open.get()
    if collector is None:
        _record(refusal)
    else:
        collector.append(refusal)


def write(refusals: list[Refusal]) -> None:
    """One audit row for each refusal, in its actor's tenant."""
    for refusal in refusals:
        with tenant_scope(refusal.actor.tenant_id):
            _record(refusal)


def refusals_noted(act: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """For a service: one transaction, and a refusal is noted before it is passed on."""

    def wrap(service: Callable[..., T]) -> Callable[..., T]:
        @wraps(service)
        def call(*, actor: Actor, **asked: Any) -> T:
            try:
                with transaction.atomic():
                    return service(actor=actor, **asked)
            except NekibuError as refused:
                note(
                    Refusal(
                        actor,
                        act,
                        refused.error_code,
                        refused.status,
                        asked.get("approval_id"),
                        {name: str(asked[name])[:64] for name in SAID if asked.get(name)},
                    )
                )
                raise

        return call

    return wrap


def _record(refusal: Refusal) -> None:
    subject: models.Model = (
        ApprovalRequest(pk=refusal.approval_id) if refusal.approval_id else Tenant(pk=refusal.actor.tenant_id)
    )
    record(
        refusal.actor,
        ApprovalTag.REFUSED,
        subject,
        act=refusal.act,
        code=refusal.code,
        status=refusal.status,
        sent=refusal.sent,
    )
