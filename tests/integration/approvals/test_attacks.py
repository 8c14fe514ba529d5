"""Twenty random questions attacked in every way that the benchmark knows: all refused, each with its audit row."""

from __future__ import annotations

import random
from datetime import timedelta

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.utils import timezone

from benchmarks.approval_attacks import Browser, Entry, Field, Victim, entry, siege
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction
from nekibu.audit.models import AuditEvent
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import granted
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token


class Rows:
    """The benchmark's view of the database, through the models."""

    def __init__(self, own, other):
        self.own, self.other = own, other

    def entries(self, victim: Victim, *, other_tenant: bool = False) -> list[Entry]:
        with tenant_scope((self.other if other_tenant else self.own).id):
            rows = AuditEvent.objects.filter(subject_id=victim.id).order_by("seq")
            return [entry(tag, payload) for tag, payload in rows.values_list("tag", "payload")]

    def state(self, victim: Victim) -> str:
        return self._row(victim).status

    def expire(self, victim: Victim) -> None:
        self._change(victim, expires_at=timezone.now() - timedelta(seconds=1))

    def tamper(self, victim: Victim) -> None:
        self._change(victim, parameters={**self._row(victim).parameters, "amount": "1000000"})

    def _row(self, victim):
        with tenant_scope(self.own.id):
            return ApprovalRequest.objects.get(pk=victim.id)

    def _change(self, victim, **columns):
        with tenant_scope(self.own.id):
            ApprovalRequest.objects.filter(pk=victim.id).update(**columns)


@pytest.fixture
def field(transactional_db, tenant, other_tenant, person):
    """People at the doors of the whole application, middleware and all; nothing is taken for granted as a test client does."""
    application = get_wsgi_application()

    def door(**headers):
        return httpx.Client(
            transport=httpx.WSGITransport(app=application), base_url="http://testserver", headers=headers
        )

    def caller(actor):
        with tenant_scope(actor.tenant_id):
            text = create_token(
                actor=Actor.system(actor.tenant_id, "test"),
                user=User.objects.get(pk=actor.user_id),
                name="test",
                scopes=[a for a in ApprovalAction if a in granted(actor.roles)],
            )
        return door(Authorization=f"Bearer {text}")

    ada = person("Ada")
    return Field(
        caller(ada),
        caller(person("Eda", "interviewer")),
        caller(person("Stranger", "admin", of=other_tenant)),
        Browser(door(), User.objects.get(pk=ada.user_id).email, "a-long-password"),
        Rows(tenant, other_tenant),
    )


def test_twenty_questions_under_attack_decide_nothing_and_every_attempt_is_in_the_record(
    bank, transfer, field, audit
):
    made = [transfer() for _ in range(20)]
    victims = [Victim(str(r.id), r.parameters, r.params_hash) for r in made]
    trials = siege(field, victims, random.Random(7))
    assert len(trials) > 20 * 14
    assert [t for t in trials if not t.refused] == []
    assert [t for t in trials if not t.recorded] == []
    assert [t for t in trials if t.effect] == []
    # The only words that were carried out are the proper ones that the replays then repeat.
    assert {verdict for _subject, verdict, _what in bank.done} == {"reject"}
    assert len(bank.done) == sum(t.attack == "replay" for t in trials)
    refused = audit("approvals:request:refused")
    assert len(refused) == sum(t.attack != "other tenant" for t in trials)
