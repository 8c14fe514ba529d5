"""A tenant with a job, an approved rubric and the shipped fake engine; work is done when the test says so."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ats import services
from inference import connection
from inference.fake import LocalGateway
from nekibu.jobs import tasks
from nekibu.jobs.models import Outbox
from nekibu.tenants.scope import tenant_scope
from samples import rubrics


@pytest.fixture
def gateway():
    local = LocalGateway()
    connection.install(local)
    yield local
    connection.install(None)


@pytest.fixture
def no_doorbell(monkeypatch):
    """The bell stays silent, so that a test decides when work is done: what the sweeper would find is run by `work`."""
    monkeypatch.setattr("nekibu.jobs.enqueue.ring", lambda work: None)


@pytest.fixture
def job(transactional_db, person_of):
    def make(tenant, data=rubrics.BUYER):
        recruiter, manager = person_of(tenant, "recruiter"), person_of(tenant, "hiring_manager")
        with tenant_scope(tenant.id):
            made = services.create_job(actor=recruiter, title_tr=data.title_tr, title_en=data.title_en)
            criteria = [{**asdict(c), "terms": list(c.terms)} for c in data.criteria]
            services.approve_rubric(
                actor=manager, rubric=services.create_rubric(actor=recruiter, job=made, criteria=criteria)
            )
        return made

    return make


def work(tenant, rounds: int = 4) -> int:
    """Run everything that waits, as workers would; returns how many pieces were taken up."""
    from celery import current_app

    taken = 0
    for _round in range(rounds):
        with tenant_scope(tenant.id):
            waiting = list(Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True).order_by("id"))
        if not waiting:
            break
        for row in waiting:
            task = current_app.tasks[row.name]
            task.apply(headers={"nekibu_work": str(row.id), "nekibu_tenant": str(tenant.id)})
            taken += 1
    return taken


__all__ = ["tasks", "work"]
