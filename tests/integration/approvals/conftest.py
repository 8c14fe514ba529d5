"""A kind of request of its own: transfers whose facts a test can change, and which are carried out into a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from nekibu.approvals import registry, services
from nekibu.approvals.models import ApprovalRequest, Verdict
from nekibu.audit.chain import verify_chain
from nekibu.audit.models import AuditEvent
from nekibu.errors import InvalidInput
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import add_member

AT_ONCE, LATER = "test.transfer", "test.later"


@dataclass
class Bank:
    """What a product would hold: the facts of each transfer, and what was done."""

    facts: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    done: list[tuple[str, str, Any]] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    voided: list[str] = field(default_factory=list)
    terms: dict[str, dict[str, Any]] = field(default_factory=dict)

    def current(self, request: ApprovalRequest) -> dict[str, Any] | None:
        """The transfer as it is now."""
        return self.facts[request.subject_id]

    def amended(self, request: ApprovalRequest, value: Any) -> dict[str, Any]:
        """With another amount."""
        if not isinstance(value, dict) or not str(value.get("amount", "")).isdecimal():
            raise InvalidInput(errors=[{"field": "value/amount", "code": "type", "message": "digits"}])
        return {**request.parameters, "amount": value["amount"]}

    def ask_again(self, actor: Actor, old: ApprovalRequest, value: Any) -> ApprovalRequest | None:
        """Anew, with what is true now or with a person's amount."""
        editors = list(old.editors)
        if value is not None:
            self.facts[old.subject_id] = self.amended(old, value)
            editors.append(str(actor.user_id))
        facts = self.facts[old.subject_id]
        if facts is None:
            return None
        return services.request_approval(
            actor=actor, parameters=facts, supersedes=old, editors=editors, **self.terms[old.subject_id]
        )

    def carry_out(self, actor: Actor, request: ApprovalRequest, word: Verdict) -> None:
        """Once, and exactly what was agreed to."""
        what = word.value or self.facts[request.subject_id]
        self.done.append((request.subject_id, word.verdict, what))

    def handler(self, *, at_once: bool) -> registry.Handler:
        return registry.Handler(
            on_decided=self.carry_out,
            on_expired=lambda actor, request: self.expired.append(request.subject_id),
            on_void=lambda actor, request: self.voided.append(request.subject_id),
            current=self.current,
            amended=self.amended,
            ask_again=self.ask_again,
            at_once=at_once,
        )


@pytest.fixture
def bank() -> Iterator[Bank]:
    """The product of one test."""
    made = Bank()
    registry.register(AT_ONCE, made.handler(at_once=True))
    registry.register(LATER, made.handler(at_once=False))
    yield made
    registry._handlers.pop(AT_ONCE), registry._handlers.pop(LATER)


@pytest.fixture
def transfer(transactional_db: None, tenant: Any, bank: Bank) -> Callable[..., ApprovalRequest]:
    """`transfer(actor=…, quorum=…)` → a request about 100 to be paid."""

    def make(
        actor: Actor | None = None, *, kind: str = AT_ONCE, now: Any = None, **terms: Any
    ) -> ApprovalRequest:
        subject = str(uuid4())
        asker = actor or Actor.system(tenant.id, "bank")
        bank.facts[subject] = {"amount": "100", "to": f"TR{subject[:6]}", "for": "tuğla"}
        bank.terms[subject] = {
            "kind": kind, "subject_type": "test.transfer", "subject_id": subject, "title": f"Pay {subject[:4]}",
            "reasons": ["over the limit"], "roles": ["reviewer"], "requester": asker, **terms,
        }  # fmt: skip
        with tenant_scope(asker.tenant_id):
            return services.request_approval(
                actor=asker, parameters=bank.facts[subject], now=now, **bank.terms[subject]
            )

    return make


@pytest.fixture
def person(transactional_db: None, tenant: Any) -> Callable[..., Actor]:
    """`person("Ada", "reviewer")` → a new colleague of the first tenant."""

    def make(name: str, *roles: str, of: Any = None) -> Actor:
        company = of or tenant
        user = User.objects.create_user(f"{uuid4().hex[:8]}@{company.slug}.example", name, "a-long-password")
        with tenant_scope(company.id):
            for role in roles or ("reviewer",):
                add_member(actor=Actor.system(company.id, "test"), user=user, role=role)
        return Actor(company.id, name, user.id, frozenset(roles or ("reviewer",)))

    return make


@pytest.fixture
def say(transactional_db: None) -> Callable[..., ApprovalRequest]:
    """`say(actor, request, "approve")` → the request after that word."""

    def speak(
        actor: Actor, request: ApprovalRequest, verdict: str = "approve", **more: Any
    ) -> ApprovalRequest:
        with tenant_scope(actor.tenant_id):
            return services.decide(
                actor=actor,
                approval_id=request.id,
                verdict=verdict,
                **{"reason": "I looked", "params": request.params_hash, **more},
            )

    return speak


@pytest.fixture
def audit(transactional_db: None, tenant: Any) -> Callable[..., list[AuditEvent]]:
    """`audit("approvals:request:refused")` → the rows of the first tenant with that tag; the chain holds."""

    def read(tag: str = "", *, of: Any = None) -> list[AuditEvent]:
        with tenant_scope((of or tenant).id):
            assert verify_chain().broken_at is None
            rows = AuditEvent.objects.order_by("seq")
            return list(rows.filter(tag=tag) if tag else rows)

    return read
