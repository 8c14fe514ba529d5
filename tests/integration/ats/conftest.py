"""A tenant with a job, an approved rubric and the shipped fake engine; work is done when the test says so."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path

import pytest

from ats import services
from inference import connection
from inference.fake import LocalGateway
from nekibu.files.parsers.base import Parsed
from nekibu.files.parsers.registry import parse
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


_READ: dict[str, Parsed] = {}


def read_once(path: Path, name: str) -> Parsed:
    """The reading of a file's bytes, made once for all tests, in place of the child that gives the same value."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest not in _READ:
        _READ[digest] = parse(path, name)
    return _READ[digest]


@pytest.fixture(autouse=True)
def files_read_once(monkeypatch):
    monkeypatch.setattr("nekibu.files.services.parse_file", read_once)


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
