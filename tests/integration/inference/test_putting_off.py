"""A decision whose promise cannot be kept: put off to the batch clock once, or refused with a time to come back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference import registry, services
from inference.errors import PromiseMissed
from inference.models import Attempt, Decision
from inference.slo import Band
from inference.types import ServicePolicy, Slo
from inference.wire import Demoted, Refused
from nekibu.jobs.models import Outbox
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.integration.inference.test_api import ADDRESS, api, token_of  # noqa: F401

LATE = Demoted("predicted_miss")


@pytest.fixture
def patient(lines):
    """The task would rather be served later than late."""
    slo = Slo(ttft_ms=2_000, on_predicted_miss="demote")
    found = registry.find(lines.slug, 1)
    registry.register(replace(found, version=2, policy=ServicePolicy(slo=slo, version=2)))
    return lines


def waiting_work(tenant):
    with tenant_scope(tenant.id):
        return list(Outbox.objects.filter(name="inference.decide").values_list("queue", "kwargs"))


def test_the_ticket_says_what_the_task_promises_and_whose_answers_are_alike(ask, patient, gateway):
    ask()
    [ticket] = gateway.tickets
    assert (ticket.ttft, ticket.on_predicted_miss, ticket.key) == (2.0, "demote", patient.slug)
    assert ticket.share == 1.0


def test_what_is_put_off_is_noted_once_and_ended_by_a_worker_under_the_same_key(
    ask, patient, gateway, tenant
):
    gateway.stumbles = [LATE]
    heard = []
    first = ask("k", on_event=lambda kind, data: heard.append(kind))
    again = ask("k")
    assert (first.status, again.decision_id, len(gateway.tickets)) == ("queued", first.decision_id, 1)
    assert heard[-1] == "demoted"
    assert waiting_work(tenant) == [("batch", {"decision_id": str(first.decision_id)})]
    assert patient.settled == []

    done = services.resume(Actor.system(tenant.id, "worker"), first.decision_id)
    assert (done.status, done.decision_id) == ("accepted", first.decision_id)
    assert [t.band for t in gateway.tickets] == [Band.STANDARD, Band.BATCH]
    assert (gateway.tickets[1].ttft, len(patient.settled)) == (None, 1)
    with tenant_scope(tenant.id):
        row = Decision.objects.get(pk=first.decision_id)
        noted = [s for s in row.steps.filter(stage="schedule") if "demoted_at" in s.payload]
        assert (row.clock, row.band, len(noted)) == ("batch", "batch", 1)
        assert noted[0].payload["cause"] == "predicted_miss"
        assert Attempt.objects.filter(decision=row).count() == 1  # nothing was computed for the first
    assert ask("k") == done


def test_a_cancelled_one_is_not_done_later(ask, patient, gateway, tenant):
    gateway.stumbles = [LATE]
    put_off = ask()
    actor = Actor.system(tenant.id, "worker")
    services.cancel(actor=actor, decision_id=put_off.decision_id)
    assert services.resume(actor, put_off.decision_id).status == "cancelled"
    assert len(gateway.tickets) == 1


def test_the_api_answers_that_it_was_taken_and_where_it_stands(api, patient, gateway):  # noqa: F811
    gateway.stumbles = [LATE]
    answer = api.post()
    said = answer.json()
    assert (answer.status_code, said["status"]) == (202, "queued")
    assert answer["Location"] == f"{ADDRESS}{said['decision_id']}/"
    assert api.get(answer["Location"]).json()["route"]["clock"] == "batch"


def test_a_task_that_would_rather_be_refused_is_told_when_to_come_back(ask, gateway, api):  # noqa: F811
    gateway.stumbles = [Refused("predicted_miss", 7.0), Refused("predicted_miss", 7.0)]
    answer = api.post()
    assert (answer.status_code, answer["Retry-After"], answer.json()["code"]) == (429, "7", "predicted_miss")
    with pytest.raises(PromiseMissed):
        ask("other")
    assert ask("other").status == "accepted"
