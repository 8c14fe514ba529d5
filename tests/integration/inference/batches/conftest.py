"""A batch over numbered lines. Doorbells are held back, so that a test says itself who works when."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from celery import current_app
from django.utils import timezone

from inference.batches import closing, running, services
from inference.models import Batch, BatchItem
from inference.states import Window
from nekibu.jobs.models import Outbox
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope


class Desk:
    """One tenant's door to batches, and the hands of its worker."""

    def __init__(self, tenant: Any, task: str, actor: Actor) -> None:
        self.tenant, self.task, self.actor = tenant, task, actor

    def line(self, custom_id: str, term: str = "Python", subject: str = "a", **changes: Any) -> bytes:
        body = {"task": self.task, "subject": {"type": "lines", "id": subject}, "inputs": {"term": term}}
        row = {"custom_id": custom_id, "method": "POST", "url": "/v1/decisions", "body": {**body, **changes}}
        return json.dumps(row).encode() + b"\n"

    def start(self, *lines: bytes, window: Window = Window.DAY) -> UUID:
        """A batch of these lines, not yet read."""
        with tenant_scope(self.tenant.id):
            held = services.keep_file(actor=self.actor, name="questions.jsonl", chunks=lines)
            return services.start(actor=self.actor, file_id=held.id, window=window, metadata={}).id

    def open(self, n: int = 3, **more: Any) -> UUID:
        """A batch of `n` questions, read and in progress."""
        batch_id = self.start(*(self.line(f"q{k}", **more) for k in range(n)))
        self.jobs()
        return batch_id

    def jobs(self) -> None:
        """Do what the outbox holds."""
        while True:
            with tenant_scope(self.tenant.id):
                waiting = list(Outbox.objects.filter(done_at=None, dead_at=None).order_by("id"))
            if not waiting:
                return
            for work in waiting:
                task = current_app.tasks[work.name]
                task.apply(headers={"nekibu_work": str(work.id), "nekibu_tenant": str(self.tenant.id)})

    def work(self) -> int:
        """Work on groups until there is none, then write results. How many groups there were."""
        groups = 0
        while running.run_next():
            groups += 1
        self.jobs()
        return groups

    def sweep(self, later: timedelta = timedelta(0)) -> bool:
        """What the beat does, at a later time."""
        now = timezone.now() + later
        with tenant_scope(self.tenant.id):
            waiting = closing.sweep(now)
        closing.stop_strays(self.tenant.id, now)
        return waiting

    def batch(self, batch_id: UUID) -> Batch:
        with tenant_scope(self.tenant.id):
            return Batch.objects.select_related(
                "output_file__stored", "error_file__stored", "input_file"
            ).get(pk=batch_id)

    def items(self, batch_id: UUID) -> list[BatchItem]:
        with tenant_scope(self.tenant.id):
            return list(BatchItem.objects.filter(batch=batch_id).select_related("decision").order_by("line"))

    def states(self, batch_id: UUID) -> list[str]:
        return [item.status for item in self.items(batch_id)]

    def change(self, batch_id: UUID, **values: Any) -> None:
        """Move the hands of its clocks."""
        with tenant_scope(self.tenant.id):
            BatchItem.objects.filter(batch=batch_id).update(**values)

    def results(self, batch_id: UUID) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The lines of both files."""
        from nekibu.files.selectors import verified

        batch = self.batch(batch_id)
        both = []
        for held in (batch.output_file, batch.error_file):
            text = verified(held.stored).read_text() if held else ""
            rows = [json.loads(row) for row in text.splitlines()]
            assert held is None or held.lines == len(rows)
            both.append(rows)
        return both[0], both[1]


@pytest.fixture(autouse=True)
def _no_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody works before a test says so."""
    monkeypatch.setattr("nekibu.jobs.enqueue.ring", lambda work: None)
    monkeypatch.setattr("inference.batches.services.knock", lambda name, queue: None)


@pytest.fixture
def desk_of(transactional_db: None, lines: Any, gateway: Any) -> Callable[[Any], Desk]:
    """`desk_of(tenant)` → its desk."""

    def make(tenant: Any) -> Desk:
        return Desk(tenant, lines.slug, Actor.system(tenant.id, "worker"))

    return make


@pytest.fixture
def desk(desk_of: Any, tenant: Any) -> Desk:
    return desk_of(tenant)
