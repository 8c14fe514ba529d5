"""Prices are entered and verified by people, hold from a moment on, are never rewritten, and stay inside their tenant."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from inference import registry
from inference.catalogue import selectors, services
from inference.metrics.cost import MachinePrice, TokenPrice
from inference.models import Attempt, Behaviour, Decision, Price
from inference.services import decide
from inference.trace import verify_seals
from inference.types import Solved
from nekibu.audit.models import AuditEvent
from nekibu.errors import InvalidInput, NotFound, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.cases import case
from tests.unit.inference.specs import request

DAY = timedelta(days=1)
SHA = "ab" * 32


@pytest.fixture
def admin(transactional_db, tenant, person_of):
    return person_of(tenant, "admin")


@pytest.fixture
def scope(transactional_db, tenant):
    with tenant_scope(tenant.id):
        yield


def enter(actor, **changes):
    values = {
        "kind": "cpu_hour",
        "provider": "self-hosted",
        "currency": "USD",
        "amount": Decimal("0.05"),
        "effective_from": timezone.now() - DAY,
    }
    return services.enter_price(actor=actor, **{**values, **changes})


def test_a_price_is_stale_until_a_person_compared_it_and_carries_a_claim_after_two(
    scope, tenant, admin, person_of
):
    price, now = enter(admin), timezone.now()
    assert selectors.standing(selectors.price_for(admin, price.id), now).state == "stale"
    services.verify(actor=admin, row=price, source_sha256=SHA, source_url="https://example.com/invoice")
    one = selectors.standing(selectors.price_for(admin, price.id), now)
    assert (one.state, one.verified_by, one.carries_a_claim) == ("current", ("Admin",), False)
    second = _another_admin(tenant, person_of)
    services.verify(actor=second, row=price, source_sha256=SHA)
    two = selectors.standing(selectors.price_for(admin, price.id), now)
    assert two.carries_a_claim
    assert selectors.standing(selectors.price_for(admin, price.id), now + 31 * DAY).state == "stale"
    told = AuditEvent.objects.filter(subject_id=str(price.id)).order_by("seq")
    assert [event.tag for event in told] == [
        "inference:price:entered",
        "inference:price:verified",
        "inference:price:verified",
    ]
    assert told[0].payload["amount"] == "0.05" and told[1].payload["source_sha256"] == SHA


def _another_admin(tenant, person_of):
    from nekibu.users.models import User
    from nekibu.users.services import add_member

    user = User.objects.create_user("second@anka.example", "Second", "a-long-password")
    add_member(actor=Actor.system(tenant.id, "test"), user=user, role="admin")
    return Actor(tenant_id=tenant.id, name=user.name, user_id=user.id, roles=frozenset({"admin"}))


def test_the_most_specific_and_latest_row_that_has_begun_is_in_force(scope, admin):
    now = timezone.now()
    every = enter(admin, effective_from=now - 10 * DAY)
    corrected = enter(admin, effective_from=now - 10 * DAY, amount=Decimal("0.06"))
    named = enter(admin, model="small", effective_from=now - 20 * DAY)
    future = enter(admin, model="small", effective_from=now + DAY)

    def at(moment, *names):
        return selectors.in_force("self-hosted", names, moment, kinds=selectors.ENGINE)

    assert at(now, "large") == corrected
    assert at(now, "small") == named
    assert at(now, "nothing", "small") == named
    assert at(now + 2 * DAY, "small") == future
    assert at(now - 15 * DAY, "large") is None
    assert every != corrected
    assert selectors.in_force("openai", ["large"], now, kinds=["token"]) is None


def test_a_region_of_its_own_comes_before_everywhere(scope, admin):
    now = timezone.now()
    token = {"kind": "token", "provider": "openai", "model": "m", "amount": None, "input": Decimal(2)}
    everywhere = enter(admin, **token)
    there = enter(admin, **token, region="eu", effective_from=now - 5 * DAY)
    assert selectors.in_force("openai", ["m"], now, kinds=["token"], region="eu") == there
    assert selectors.in_force("openai", ["m"], now, kinds=["token"], region="us") == everywhere
    assert selectors.in_force("openai", ["m"], now, kinds=["token"], tier="batch") is None


@case("ACC-24")
def test_an_expired_price_still_holds_as_a_stale_one(scope, admin, row):
    now = timezone.now()
    price = enter(admin, effective_from=now - 3 * DAY, expires_at=now - DAY)
    services.verify(actor=admin, row=price, source_sha256=SHA)
    value = selectors.engine_price(["any"], now)
    assert isinstance(value, MachinePrice)
    assert (value.version, value.state, value.hour) == (str(price.id), "stale", Decimal("0.05"))


def test_tokens_of_the_own_engine_can_have_a_price_too(scope, admin):
    price = enter(
        admin, kind="token", amount=None, input=Decimal("0.1"), cache_read=Decimal(0), output=Decimal("0.4")
    )
    value = selectors.engine_price(["any"], timezone.now())
    assert isinstance(value, TokenPrice)
    assert (value.version, value.input, value.cache_read, value.cache_write_5m) == (
        str(price.id), Decimal("0.1"), Decimal(0), None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"amount": None}, "amount"),
        ({"amount": Decimal(-1)}, "amount"),
        ({"input": Decimal(1)}, "amount"),
        ({"kind": "token", "amount": None}, "input"),
        ({"kind": "token", "input": Decimal(1)}, "input"),
        ({"kind": "an evening"}, "kind"),
        ({"currency": "LIRA"}, "currency"),
        ({"provider": ""}, "provider"),
        ({"source_url": "not an address"}, "source_url"),
        ({"amount": Decimal("0.0000001")}, "amount"),
        ({"expires_at": timezone.now() - 5 * DAY}, "expires_at"),
    ],
)
def test_a_price_that_says_nothing_or_too_much_is_refused(scope, admin, changes, field):
    with pytest.raises(InvalidInput) as refused:
        enter(admin, **changes)
    assert field in [error["field"] for error in refused.value.data["errors"]]
    assert not Price.objects.exists()


def test_the_database_holds_the_same_rules(scope, admin):
    for wrong in ({"amount": None}, {"amount": -1}, {"kind": "token"}):
        values = {"kind": "cpu_hour", "provider": "p", "currency": "USD", "amount": 1, **wrong}
        with pytest.raises(IntegrityError), transaction.atomic():
            Price.objects.create(**values, effective_from=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Behaviour.objects.create(provider="p", effective_from=timezone.now(), granularity=0)


def test_nobody_rewrites_or_removes_a_row_of_the_catalogue(scope, admin):
    price = enter(admin)
    seen = services.verify(actor=admin, row=price, source_sha256=SHA)
    behaviour = services.enter_behaviour(
        actor=admin, provider="self-hosted", effective_from=timezone.now(), granularity=1
    )
    for row in (price, seen, behaviour):
        with pytest.raises(DatabaseError), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(created_at=timezone.now())
        with pytest.raises(DatabaseError), transaction.atomic():
            row.delete()


def test_only_who_may_enters_and_only_a_person_verifies(scope, tenant, admin, person_of):
    with pytest.raises(NotPermitted):
        enter(person_of(tenant, "recruiter"))
    price = enter(admin)
    with pytest.raises(NotPermitted):
        services.verify(actor=person_of(tenant, "auditor"), row=price, source_sha256=SHA)
    with pytest.raises(NotPermitted):
        services.verify(actor=Actor.system(tenant.id, "worker"), row=price, source_sha256=SHA)
    with pytest.raises(InvalidInput):
        services.verify(actor=admin, row=price, source_sha256="not a hash")


def test_another_tenants_price_does_not_exist(transactional_db, tenant, other_tenant, person_of):
    foreign, own = person_of(other_tenant, "admin"), person_of(tenant, "admin")
    with tenant_scope(other_tenant.id):
        price = enter(foreign)
    with tenant_scope(tenant.id):
        assert selectors.engine_price(["any"], timezone.now()) is None
        with pytest.raises(NotFound):
            selectors.price_for(own, price.id)
        with pytest.raises(NotFound):
            services.verify(actor=own, row=price, source_sha256=SHA)


def test_a_behaviour_is_in_force_like_a_price_and_lasts_longer(scope, admin):
    now = timezone.now()
    row = services.enter_behaviour(
        actor=admin,
        provider="self-hosted",
        effective_from=now - DAY,
        granularity=16,
        source_url="https://x.example",
    )
    services.verify(actor=admin, row=row, source_sha256=SHA)
    found = selectors.behaviour_in_force("self-hosted", ["any"], now)
    assert found == row
    assert selectors.standing(found, now + 89 * DAY).state == "current"
    assert selectors.standing(found, now + 91 * DAY).state == "stale"


@case("ACC-23")
def test_without_a_price_a_decision_costs_an_unknown_amount(ask, tenant, row):
    """Never 0."""
    outcome = ask()
    with tenant_scope(tenant.id):
        decision = Decision.objects.get(pk=outcome.decision_id)
        assert (decision.cost_amount, decision.cost_state, decision.price_version) == (None, "unknown", "")
        attempt = decision.attempts.get()
        assert (attempt.cost_amount, attempt.cost_state, attempt.price_version) == (None, "unknown", "")


@case("ACC-26")
def test_every_attempt_and_its_decision_store_the_version_of_the_price_they_were_priced_under(
    ask, tenant, person_of, row
):
    """A later price leaves what was priced before as it was."""
    admin = person_of(tenant, "admin")
    with tenant_scope(tenant.id):
        first = enter(admin, amount=Decimal("3.6"))
    one = ask("one")
    with tenant_scope(tenant.id):
        second = enter(admin, amount=Decimal("7.2"))
        services.verify(actor=admin, row=second, source_sha256=SHA)
    two = ask("two")
    with tenant_scope(tenant.id):
        before, after = (Decision.objects.get(pk=o.decision_id) for o in (one, two))
        assert (before.price_version, before.cost_state) == (str(first.id), "stale")
        assert (after.price_version, after.cost_state) == (str(second.id), "current")
        assert before.cost_amount == Decimal("0.000002")  # 0.001 s of reading and 0.001 s of writing
        assert after.cost_amount == 2 * before.cost_amount
        for decision in (before, after):
            attempt = decision.attempts.get()
            assert (attempt.price_version, attempt.cost_amount) == (
                decision.price_version,
                decision.cost_amount,
            )
        assert verify_seals() is None


def test_a_decision_by_rule_asks_no_model_and_costs_nothing(transactional_db, tenant, lines, gateway):

    solved = Solved({"pieces": [], "counter_pieces": [], "reasoning": "", "verdict": "not_stated"}, "r")
    registry.register(lines.spec(slug=f"{lines.slug}.solved", solve=lambda *_: solved))
    asked = request("k", task=f"{lines.slug}.solved", actor=Actor.system(tenant.id, "worker"))
    outcome = decide(asked)
    with tenant_scope(tenant.id):
        decision = Decision.objects.get(pk=outcome.decision_id)
        assert not Attempt.objects.exists()
        assert (decision.decided_by, decision.cost_amount, decision.cost_state) == (
            "rule",
            Decimal(0),
            "current",
        )
