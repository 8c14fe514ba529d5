"""Claims on items: two workers, dead workers, zombies, tenants, groups."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from inference import services as front
from inference.batches import claims, inputs, running, services
from inference.batches.claims import Fenced
from inference.models import BatchItem, BatchShare, Decision
from inference.states import ItemStatus, Window
from inference.types import Outcome
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope


def taken(tenant):
    with tenant_scope(tenant.id):
        return claims.claim()


def let_end(claim):
    """The worker died: its leases are over."""
    with tenant_scope(claim.tenant_id):
        BatchItem.objects.filter(lease_owner=claim.owner).update(
            lease_until=timezone.now() - timedelta(seconds=1)
        )


def test_a_claim_is_one_group_of_at_most_so_many_items(desk, monkeypatch):
    monkeypatch.setattr(claims, "AT_ONCE", 3)
    desk.open(5)
    first, second = taken(desk.tenant), taken(desk.tenant)
    assert [len(first.items), len(second.items)] == [3, 2]
    assert not {i.id for i in first.items} & {i.id for i in second.items}
    assert taken(desk.tenant) is None
    assert {i.fence for i in first.items} == {1}


def test_questions_about_one_document_follow_each_other(desk):
    batch_id = desk.start(*(desk.line(f"{s}{k}", subject=s) for k in range(3) for s in ("a", "b")))
    desk.jobs()
    claim = taken(desk.tenant)
    subjects = [i.custom_id[0] for i in claim.items]
    assert len(subjects) == 6 and subjects in (list("aaabbb"), list("bbbaaa"))
    assert claim.items[0].batch_id == batch_id


def test_another_task_is_another_group_and_what_is_due_first_goes_first(desk, lines):
    from inference import registry

    registry.register(lines.spec(slug="lines.other"))
    slow = desk.start(desk.line("slow"), desk.line("slow2"), window=Window.DAY)
    soon = desk.start(desk.line("soon", task="lines.other"), window=Window.HOUR)
    desk.jobs()
    first, second = taken(desk.tenant), taken(desk.tenant)
    assert {i.batch_id for i in first.items} == {soon}
    assert {i.batch_id for i in second.items} == {slow}


def test_the_document_is_computed_once_for_its_questions(desk, monkeypatch):
    monkeypatch.setattr(running, "AT_ONCE", 1)
    batch_id = desk.open(6)
    desk.work()
    with tenant_scope(desk.tenant.id):
        read = [i.decision.attempts.get().cache_read for i in desk.items(batch_id)]
    assert sorted(read)[0] == 0 and len([n for n in read if n == 0]) == 1


def test_two_workers_race_and_nobody_is_asked_twice(desk, gateway):
    batch_id = desk.open(40)
    barrier = threading.Barrier(2)

    def worker():
        try:
            barrier.wait(10)
            while (claim := claims.claim_next()) is not None:
                running.work(claim)
        finally:
            connection.close()

    workers = [threading.Thread(target=worker) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)
    assert desk.states(batch_id) == ["done"] * 40
    assert len(gateway.tickets) == 40
    assert {i.fence for i in desk.items(batch_id)} == {1}
    with tenant_scope(desk.tenant.id):
        assert Decision.objects.count() == 40


def test_a_dead_workers_items_are_taken_up_again(desk):
    batch_id = desk.open(3)
    claim = taken(desk.tenant)
    assert desk.work() == 0  # held
    desk.sweep()
    assert set(desk.states(batch_id)) == {"leased"}
    let_end(claim)
    assert desk.sweep()
    assert set(desk.states(batch_id)) == {"pending"}
    desk.work()
    items = desk.items(batch_id)
    assert [(i.status, i.attempts) for i in items] == [("done", 1)] * 3
    assert all(i.fence > 1 for i in items)


def test_a_zombies_late_word_changes_nothing(desk):
    batch_id = desk.open(1)
    dead = taken(desk.tenant)
    let_end(dead)
    desk.sweep()
    (zombie,) = dead.items
    with pytest.raises(Fenced), tenant_scope(desk.tenant.id):
        Decision.objects.update(reason="written by a zombie")
        claims.finish(zombie, ItemStatus.FAILED, cause="zombie")
    alive = taken(desk.tenant)
    with pytest.raises(Fenced), tenant_scope(desk.tenant.id):
        claims.finish(zombie, ItemStatus.DONE)
    with tenant_scope(desk.tenant.id):
        assert not claims.begin(zombie)
        claims.give_back([zombie], timedelta(0))
    assert desk.states(batch_id) == ["leased"]
    running.work(alive)
    with pytest.raises(Fenced), tenant_scope(desk.tenant.id):
        claims.finish(zombie, ItemStatus.FAILED, cause="zombie")
    assert [(i.status, i.cause) for i in desk.items(batch_id)] == [("done", "")]


def test_a_worker_that_died_between_the_answer_and_its_word_asks_nothing_again(desk, gateway):
    batch_id = desk.open(1)
    claim = taken(desk.tenant)
    with tenant_scope(desk.tenant.id):
        claims.begin(claim.items[0])
        asked = inputs.request_of(claim.items[0])
    outcome = front.decide(asked)
    assert isinstance(outcome, Outcome)
    let_end(claim)
    desk.sweep()
    desk.work()
    (item,) = desk.items(batch_id)
    assert (item.status, item.decision_id) == ("done", outcome.decision_id)
    assert len(gateway.tickets) == 1


def test_an_item_whose_worker_always_dies_is_given_up(desk):
    batch_id = desk.open(1)
    for _ in range(claims.MOST_ATTEMPTS):
        claim = taken(desk.tenant)
        with tenant_scope(desk.tenant.id):
            assert claims.begin(claim.items[0])
        let_end(claim)
        desk.sweep()
    assert [(i.status, i.cause) for i in desk.items(batch_id)] == [("failed", "attempts_exhausted")]
    desk.jobs()
    assert desk.batch(batch_id).status == "completed"


def test_a_dead_workers_items_end_with_their_batch(desk):
    cancelled, late = desk.open(1), desk.open(1)
    for _ in range(2):
        claim = taken(desk.tenant)
        let_end(claim) if claim else None
    with tenant_scope(desk.tenant.id):
        services.cancel(actor=desk.actor, batch_id=cancelled)
    desk.change(late, due_at=timezone.now() - timedelta(seconds=1))
    desk.sweep()
    assert desk.states(cancelled) == ["cancelled"] and desk.states(late) == ["expired"]
    desk.jobs()
    assert (desk.batch(cancelled).status, desk.batch(late).status) == ("cancelled", "expired")


def test_renewing_holds_what_is_held_and_nothing_else(desk):
    batch_id = desk.open(2)
    claim = taken(desk.tenant)
    let_end(claim)
    with tenant_scope(desk.tenant.id):
        claims.finish(claim.items[0], ItemStatus.DONE)
    claims.renew(desk.tenant.id, claim.owner)
    desk.sweep()
    assert desk.states(batch_id) == ["done", "leased"]


def test_two_tenants_are_served_in_turn_whatever_one_of_them_floods(
    desk_of, tenant, other_tenant, monkeypatch
):
    monkeypatch.setattr(claims, "AT_ONCE", 2)
    flood, few = desk_of(tenant), desk_of(other_tenant)
    flood.open(16)
    few_id = few.open(4)
    order = []
    while (claim := claims.claim_next()) is not None:
        order.append(claim.tenant_id)
        running.work(claim)
    first = order[:4]
    assert Counter(first) == {tenant.id: 2, other_tenant.id: 2}
    assert few.states(few_id) == ["done"] * 4


def test_a_tenant_that_was_away_has_not_saved_up_its_turns(desk_of, tenant, other_tenant, monkeypatch):
    monkeypatch.setattr(claims, "AT_ONCE", 1)
    busy, late = desk_of(tenant), desk_of(other_tenant)
    busy.open(8)
    for _ in range(4):
        running.run_next()
    late.open(8)
    order = []
    for _ in range(4):
        claim = claims.claim_next()
        order.append(claim.tenant_id)
        running.work(claim)
    assert Counter(order) == {tenant.id: 2, other_tenant.id: 2}
    with tenant_scope(tenant.id):
        had = BatchShare.objects.get().served
    with tenant_scope(other_tenant.id):
        assert BatchShare.objects.get().served >= had // 2


def test_what_was_charged_in_advance_becomes_what_it_was(desk, gateway):
    batch_id = desk.open(3)
    desk.work()
    with tenant_scope(desk.tenant.id):
        attempts = [d.attempts.get() for d in Decision.objects.all()]
        share = BatchShare.objects.get()
    assert share.served == sum(a.uncached + 2 * a.output for a in attempts)
    assert desk.states(batch_id) == ["done"] * 3


def test_a_claim_that_cannot_be_worked_on_is_given_back_uncharged(desk, gateway):
    from inference import connection as engines
    from inference.errors import GatewayLost

    class Away:
        def state(self):
            raise GatewayLost

    batch_id = desk.open(3)
    engines.install(Away())
    desk.work()
    assert [(i.status, i.attempts) for i in desk.items(batch_id)] == [("pending", 0)] * 3
    with tenant_scope(desk.tenant.id):
        assert BatchShare.objects.get().served == 0


def test_row_security_hides_one_tenants_batches_from_another(desk_of, tenant, other_tenant):
    batch_id = desk_of(tenant).open(2)
    with tenant_scope(other_tenant.id):
        assert not BatchItem.objects.filter(batch_id=batch_id).exists()
        with connection.cursor() as cursor:
            for table in ("inference_batch", "inference_batch_item", "inference_file"):
                cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608  (names of our own)
                assert cursor.fetchone() == (0,)
    assert Tenant.objects.count() == 2
