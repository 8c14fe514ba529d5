"""A batch from its file to its results."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from inference.batches import selectors, services
from inference.models import BatchFile, BatchItem, Decision
from inference.states import Window
from inference.wire import Refused
from nekibu.audit.models import AuditEvent
from nekibu.errors import Conflict, IllegalMove, NotPermitted
from nekibu.files.selectors import original
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.unit.inference.specs import request


def test_each_line_becomes_one_decision_and_one_line_of_the_results(desk):
    batch_id = desk.open(5)
    assert desk.batch(batch_id).status == "in_progress"
    assert desk.work() == 1
    batch, items = desk.batch(batch_id), desk.items(batch_id)
    assert batch.status == "completed"
    assert [i.status for i in items] == ["done"] * 5
    assert len({i.decision_id for i in items}) == 5
    good, bad = desk.results(batch_id)
    assert bad == [] and batch.error_file is None
    assert [row["custom_id"] for row in good] == [f"q{k}" for k in range(5)]
    first = good[0]["response"]
    assert (first["status_code"], first["body"]["status"]) == (200, "accepted")
    assert first["body"]["citations"][0]["quote"] == "Python 2019-2024"
    assert {i.decision.clock for i in items} == {"batch"}
    assert items[0].decision.correlation == {"batch": str(batch_id), "custom_id": "q0"}
    with tenant_scope(desk.tenant.id):
        tags = set(AuditEvent.objects.values_list("tag", flat=True))
    assert {"inference:batch:received", "inference:batch:moved", "inference:batch_file:kept"} <= tags


def test_a_file_with_wrong_lines_is_not_taken_and_says_which(desk):
    batch_id = desk.start(desk.line("a"), b"{\n", desk.line("a"), desk.line("c", task="no.such"))
    desk.jobs()
    batch = desk.batch(batch_id)
    assert (batch.status, batch.error_count, batch.total) == ("failed", 3, 0)
    assert [(e["line"], e["code"]) for e in batch.errors] == [
        (2, "not_json"), (3, "custom_id_repeated"), (4, "unknown_task"),
    ]  # fmt: skip
    assert desk.items(batch_id) == []
    assert desk.work() == 0


def test_requests_are_written_down_as_the_file_that_they_could_have_been(desk):
    asked = [request(f"k{n}", task=desk.task, term=term) for n, term in enumerate(("Python", "SQL"))]
    with tenant_scope(desk.tenant.id):
        batch_id = services.submit(actor=desk.actor, requests=asked, window=Window.HOUR, origin="test").id
    desk.work()
    desk.jobs()
    desk.work()
    good, _bad = desk.results(batch_id)
    assert [row["custom_id"] for row in good] == ["k0", "k1"]
    batch = desk.batch(batch_id)
    assert batch.metadata == {"origin": "test"}
    assert timedelta(minutes=59) < batch.due_at - batch.created_at <= timedelta(hours=1)


def test_what_fails_is_an_error_line_with_its_cause_and_can_be_asked_again(desk, gateway):
    batch_id = desk.start(desk.line("good"), desk.line("gone", subject="nobody"), desk.line("also"))
    desk.jobs()
    desk.work()
    good, bad = desk.results(batch_id)
    assert [r["custom_id"] for r in good] == ["good", "also"]
    assert [(r["custom_id"], r["error"]["code"], r["response"]) for r in bad] == [("gone", "not_found", None)]
    with tenant_scope(desk.tenant.id):
        assert selectors.failures_of(desk.batch(batch_id)) == [
            {"status": "failed", "cause": "not_found", "count": 1, "first_line": 2}
        ]
        again = services.retry(actor=desk.actor, batch_id=batch_id, window=Window.HOUR)
    assert (again.retry_of_id, again.total, again.status) == (batch_id, 1, "in_progress")
    assert again.input_file_id == desk.batch(batch_id).input_file_id
    desk.work()
    assert desk.states(again.id) == ["failed"]
    assert desk.results(batch_id) == (good, bad)  # the first batch stays as it was


def test_a_retry_needs_an_ended_batch_with_something_to_ask(desk):
    batch_id = desk.open(1)
    with tenant_scope(desk.tenant.id), pytest.raises(Conflict):
        services.retry(actor=desk.actor, batch_id=batch_id, window=Window.HOUR)
    desk.work()
    with tenant_scope(desk.tenant.id), pytest.raises(services.NothingToRetry):
        services.retry(actor=desk.actor, batch_id=batch_id, window=Window.HOUR)


def test_a_paused_batch_is_left_alone_until_it_is_resumed(desk, gateway):
    batch_id = desk.open(2)
    with tenant_scope(desk.tenant.id):
        services.pause(actor=desk.actor, batch_id=batch_id)
        with pytest.raises(IllegalMove):
            services.pause(actor=desk.actor, batch_id=batch_id)
    assert desk.work() == 0 and gateway.tickets == []
    assert not desk.sweep()
    with tenant_scope(desk.tenant.id):
        services.resume(actor=desk.actor, batch_id=batch_id)
        with pytest.raises(IllegalMove):
            services.resume(actor=desk.actor, batch_id=batch_id)
    assert desk.sweep()
    desk.work()
    assert desk.batch(batch_id).status == "completed"


def test_pausing_midway_lets_what_runs_end_and_begins_no_more(desk, gateway, monkeypatch):
    monkeypatch.setattr("inference.batches.running.AT_ONCE", 1)
    batch_id = desk.open(4)

    def pause(ticket):
        gateway.while_running = None
        with tenant_scope(desk.tenant.id):
            services.pause(actor=desk.actor, batch_id=batch_id)

    gateway.while_running = pause
    desk.work()
    assert desk.states(batch_id) == ["done", "pending", "pending", "pending"]
    assert [i.attempts for i in desk.items(batch_id)] == [1, 0, 0, 0]


def test_cancelling_midway_stops_the_engine_and_keeps_what_was_answered(desk, gateway, monkeypatch):
    monkeypatch.setattr("inference.batches.running.AT_ONCE", 1)
    batch_id = desk.open(5)
    seen = []

    def cancel(ticket):
        seen.append(ticket)
        if len(seen) == 2:
            with tenant_scope(desk.tenant.id):
                services.cancel(actor=desk.actor, batch_id=batch_id)
            desk.sweep()  # the job that the act left

    gateway.while_running = cancel
    desk.work()
    assert desk.states(batch_id) == ["done", *["cancelled"] * 4]
    assert len(seen) == 2
    batch = desk.batch(batch_id)
    assert batch.status == "cancelled"
    good, bad = desk.results(batch_id)
    assert len(good) == 1 and len(bad) == 4
    stopped = desk.items(batch_id)[1]
    assert stopped.decision.status == "cancelled"
    with tenant_scope(desk.tenant.id):  # what it cost until then is on the account
        assert stopped.decision.attempts.get().output > 0


def test_cancelling_before_it_was_read_ends_it_without_items(desk):
    batch_id = desk.start(desk.line("a"))
    with tenant_scope(desk.tenant.id):
        services.cancel(actor=desk.actor, batch_id=batch_id)
    desk.jobs()
    assert desk.batch(batch_id).status == "cancelled"
    assert desk.items(batch_id) == []


def test_when_the_window_ends_the_rest_expires_and_results_stay(desk, gateway, monkeypatch):
    monkeypatch.setattr("inference.batches.running.AT_ONCE", 1)
    batch_id = desk.open(3)

    def late(ticket):
        gateway.while_running = None
        desk.change(batch_id, due_at=timezone.now() - timedelta(seconds=1))

    gateway.while_running = late
    desk.work()
    desk.sweep()
    desk.jobs()
    assert desk.states(batch_id) == ["done", "expired", "expired"]
    assert desk.batch(batch_id).status == "expired"
    good, bad = desk.results(batch_id)
    assert len(good) == 1 and [r["error"]["code"] for r in bad] == ["window_ended"] * 2


def test_a_full_queue_costs_no_attempt_and_begins_no_more(desk, gateway, monkeypatch):
    monkeypatch.setattr("inference.batches.running.AT_ONCE", 1)
    batch_id = desk.open(3)
    gateway.stumbles = [None, Refused("queue_full", retry_after=30.0)]
    desk.work()
    assert desk.states(batch_id) == ["done", "pending", "pending"]
    items = desk.items(batch_id)
    assert [i.attempts for i in items] == [1, 0, 0]
    assert all(i.available_at > timezone.now() + timedelta(seconds=20) for i in items[1:])
    assert desk.work() == 0  # not before its time
    desk.change(batch_id, available_at=timezone.now())
    desk.work()
    assert desk.states(batch_id) == ["done"] * 3


@pytest.mark.parametrize("reason", ["hold_back", "engine_down", "draining", "queue_timeout"])
def test_nor_does_any_other_refusal_that_passes(desk, gateway, reason):
    batch_id = desk.open(1)
    gateway.stumbles = [Refused(reason, retry_after=1.0)]
    desk.work()
    (item,) = desk.items(batch_id)
    assert (item.status, item.attempts) == ("pending", 0)


def test_a_question_that_breaks_the_engine_every_time_is_given_up(desk, gateway):
    from inference.wire import Started

    class Breaking:
        def __init__(self, inner):
            self.inner = inner

        def generate(self, ticket):
            from inference.errors import GatewayLost

            yield Started("fake", "m", "r")
            raise GatewayLost

        def __getattr__(self, name):
            return getattr(self.inner, name)

    from inference import connection

    batch_id = desk.open(1)
    connection.install(Breaking(gateway))
    for _ in range(5):
        desk.change(batch_id, available_at=timezone.now())
        desk.work()
    assert [(i.status, i.cause, i.attempts) for i in desk.items(batch_id)] == [
        ("failed", "attempts_exhausted", 5)
    ]
    desk.sweep()
    assert desk.items(batch_id)[0].decision.status == "cancelled"


def test_a_line_that_changed_on_the_disk_is_not_asked(desk):
    batch_id = desk.open(1)
    with tenant_scope(desk.tenant.id):
        stored = BatchFile.objects.select_related("stored").get(purpose="batch").stored
        path = original(stored)
        path.write_bytes(path.read_bytes().replace(b"Python", b"Cobol!"))
    desk.work()
    assert [(i.status, i.cause) for i in desk.items(batch_id)] == [("failed", "input_changed")]


def test_a_custom_id_is_one_item_of_its_batch(desk):
    batch_id = desk.open(1)
    with tenant_scope(desk.tenant.id):
        row = BatchItem.objects.get(batch=batch_id)
        row.pk = Decision().pk
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save(force_insert=True)


def test_files_go_when_their_time_is_over_and_the_rows_say_so(desk):
    from inference.batches import closing

    batch_id = desk.open(1)
    desk.work()
    batch = desk.batch(batch_id)
    with tenant_scope(desk.tenant.id):
        path = original(batch.output_file.stored)
        assert path.exists()
        closing.delete_due(desk.actor, timezone.now() + timedelta(days=6))
    assert path.exists()
    with tenant_scope(desk.tenant.id):
        closing.delete_due(desk.actor, timezone.now() + timedelta(days=8))
    assert not path.exists()
    batch = desk.batch(batch_id)
    assert batch.output_file.deleted_at and batch.output_file.lines == 1
    with tenant_scope(desk.tenant.id), pytest.raises(Conflict):
        services.retry(actor=desk.actor, batch_id=batch_id, window=Window.HOUR)


def test_bytes_that_two_files_share_go_with_the_second(desk):
    from inference.batches import files

    with tenant_scope(desk.tenant.id):
        first, second = (
            services.keep_file(actor=desk.actor, name=name, chunks=[b"same\n"]) for name in ("one", "two")
        )
        path = original(first.stored)
        files.delete(desk.actor, first)
    assert path.exists()
    with tenant_scope(desk.tenant.id):
        files.delete(desk.actor, second)
    assert not path.exists()


def test_a_file_of_a_batch_that_is_open_stays(desk):
    from inference.batches import closing

    batch_id = desk.open(1)
    with tenant_scope(desk.tenant.id):
        closing.delete_due(desk.actor, timezone.now() + timedelta(days=30))
    assert desk.batch(batch_id).input_file.deleted_at is None


def test_progress_adds_up(desk):
    batch_id = desk.open(3)
    with tenant_scope(desk.tenant.id):
        before = selectors.progress_of(desk.batch(batch_id))
    assert (before.total, before.ended, before.percent, before.eta) == (3, 0, 0, None)
    desk.work()
    with tenant_scope(desk.tenant.id):
        after = selectors.progress_of(desk.batch(batch_id))
        rows = [a for d in Decision.objects.all() for a in d.attempts.all()]
    assert (after.ended, after.percent, after.counts["done"]) == (3, 100, 3)
    assert after.tokens.uncached == sum(a.uncached for a in rows)
    assert after.tokens.cache_read == sum(a.cache_read for a in rows) > 0
    assert after.tokens.output == sum(a.output for a in rows)
    assert after.cost.state == "unknown" and after.cost.amount is None


def test_whoever_may_not_start_or_steer_batches_does_not(desk, person_of, tenant):
    auditor = person_of(tenant, "auditor")
    batch_id = desk.open(1)
    with tenant_scope(tenant.id):
        for act in (
            lambda: services.keep_file(actor=auditor, name="x", chunks=[b"x"]),
            lambda: services.start(actor=auditor, file_id=batch_id, window=Window.HOUR, metadata={}),
            lambda: services.retry(actor=auditor, batch_id=batch_id, window=Window.HOUR),
            lambda: services.pause(actor=auditor, batch_id=batch_id),
            lambda: services.cancel(actor=auditor, batch_id=batch_id),
        ):
            with pytest.raises(NotPermitted):
                act()


def test_the_items_are_asked_with_the_rights_of_whoever_submitted_them(desk, person_of, tenant):
    from inference.models import Batch

    batch_id = desk.open(1)
    nobody = Actor(tenant_id=tenant.id, name="Gone", roles=frozenset({"auditor"}))
    with tenant_scope(tenant.id):
        Batch.objects.filter(pk=batch_id).update(actor=nobody.to_json())
    desk.work()
    assert [(i.status, i.cause) for i in desk.items(batch_id)] == [("failed", "not_permitted")]
