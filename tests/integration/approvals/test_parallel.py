"""Many hands at one question: one word counts, the others are told whose, and each refusal is in the record."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from nekibu.approvals import services
from nekibu.approvals.errors import DelegationRefused
from nekibu.approvals.models import ApprovalRequest, Delegation, Verdict
from nekibu.approvals.permissions import ApprovalAction
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token

HANDS = 20


def at_once(acts):
    """Start all acts together, each on a connection of its own."""
    gate = threading.Barrier(len(acts))

    def run(act):
        try:
            gate.wait(30)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def token_of(actor):
    with tenant_scope(actor.tenant_id):
        return create_token(
            actor=Actor.system(actor.tenant_id, "test"),
            user=User.objects.get(pk=actor.user_id),
            name="test",
            scopes=[ApprovalAction.READ, ApprovalAction.DECIDE],
        )


def test_of_twenty_parallel_decisions_exactly_one_counts(bank, transfer, person, audit):
    request = transfer()
    tokens = [token_of(person(f"Person {n}")) for n in range(HANDS)]
    path = reverse("api-approval-decide", args=[request.id])

    def decide(token, n):
        verdict = ("approve", "reject", "change")[n % 3]
        return lambda: Client().post(
            path,
            {"verdict": verdict, "reason": f"word {n}", "value": {"amount": str(n)}},
            content_type="application/json",
            headers={
                "Authorization": f"Bearer {token}",
                "Idempotency-Key": f"hand-{n}",
                "If-Match": f'"{request.params_hash}"',
            },
        )

    answers = at_once([decide(token, n) for n, token in enumerate(tokens)])
    assert Counter(a.status_code for a in answers) == {200: 1, 409: HANDS - 1}
    winner = next(n for n, a in enumerate(answers) if a.status_code == 200)
    assert {(a.json()["code"], a.json()["by"]) for a in answers if a.status_code == 409} == {
        ("already_decided", f"Person {winner}")
    }
    assert all(a.json()["at"] for a in answers if a.status_code == 409)
    with tenant_scope(request.tenant_id):
        assert Verdict.objects.get().person.name == f"Person {winner}"
    assert len(bank.done) == 1
    refused = audit("approvals:request:refused")
    assert Counter(r.payload["code"] for r in refused) == {"already_decided": HANDS - 1}
    assert len(audit("approvals:request:executed")) == 1


def test_one_person_who_clicks_twenty_times_speaks_once(bank, transfer, person, tenant):
    ada, request = person("Ada"), transfer(quorum=2)
    with tenant_scope(tenant.id):
        nonce = services.nonce_for(request, ada)
    user = User.objects.get(pk=ada.user_id)
    clients = [Client() for _ in range(HANDS)]
    for client in clients:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    sent = {"answer": "approve", "reason": "I looked", "nonce": nonce}
    path = reverse("approval", args=[request.id])
    answers = at_once([lambda client=client: client.post(path, sent) for client in clients])
    assert Counter(a.status_code for a in answers) == {302: 1, 409: HANDS - 1}
    with tenant_scope(tenant.id):
        assert Verdict.objects.count() == 1
        assert ApprovalRequest.objects.get().status == "pending"
    assert bank.done == []


def test_a_decision_and_the_timer_do_not_both_win(bank, transfer, person, say, tenant):
    now, beat = timezone.now(), Actor.system(tenant.id, "beat")
    people = [person(f"Person {n}") for n in range(6)]
    for actor in people:
        request = transfer(expires_at=now + timedelta(hours=1))

        def word(actor=actor, request=request):
            try:
                return say(actor, request, now=now).status
            except Exception as refused:
                return refused.error_code  # type: ignore[attr-defined]

        def timer():
            with tenant_scope(tenant.id):
                return services.expire_due(actor=beat, now=now + timedelta(hours=1))

        said, expired = at_once([word, timer])
        done = [entry for entry in bank.done if entry[0] == request.subject_id]
        with tenant_scope(tenant.id):
            status = ApprovalRequest.objects.get(pk=request.id).status
        if status == "approved":
            assert (said, expired, len(done)) == ("approved", 0, 1)
            assert request.subject_id not in bank.expired
        else:
            assert (status, said, expired, done) == ("expired", "expired", 1, [])


def test_two_delegations_that_would_close_a_circle_are_not_both_made(person, tenant):
    ada, ben = person("Ada"), person("Ben")
    now = timezone.now()

    def hand(principal, delegate):
        def act():
            try:
                with tenant_scope(tenant.id):
                    services.delegate(
                        actor=principal, user_id=delegate.user_id, ends_at=now + timedelta(days=1)
                    )
                return "made"
            except DelegationRefused as refused:
                return refused.error_code

        return act

    outcome = at_once([hand(ada, ben), hand(ben, ada)] * 4)
    with tenant_scope(tenant.id):
        (held,) = Delegation.objects.all()
    assert Counter(outcome)["made"] == 1
    assert {held.principal_id, held.delegate_id} == {ada.user_id, ben.user_id}
