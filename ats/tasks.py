"""Celery doors of recruiting."""

from __future__ import annotations

from uuid import UUID

from ats import services
from nekibu.jobs.tasks import tenant_task
from nekibu.permissions.actor import Actor


@tenant_task("ats.read_cv")
def read_cv(actor: Actor, *, application_id: str) -> None:
    """Read an uploaded CV."""
    services.read_cv(actor=actor, application_id=UUID(application_id))


@tenant_task("ats.evaluate")
def evaluate(actor: Actor, *, evaluation_id: str) -> None:
    """Evaluate one application."""
    services.evaluate(actor=actor, evaluation_id=UUID(evaluation_id))
