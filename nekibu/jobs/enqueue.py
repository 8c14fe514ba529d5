"""The doorbell: an outbox row in the act's transaction, and a message once that has been committed."""

from __future__ import annotations

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from nekibu.jobs.models import Outbox
from nekibu.permissions.actor import Actor

log = logging.getLogger(__name__)


def enqueue(name: str, *, actor: Actor, queue: str = "default", **kwargs: Any) -> Outbox:
    """Have task `name` run with `kwargs` (JSON) for `actor`, after this transaction. Raises LookupError for an unknown task."""
    if name not in current_app.tasks:
        raise LookupError(f"no task is named {name}")
    work = Outbox.objects.create(name=name, queue=queue, kwargs=kwargs, actor=actor.to_json())
    transaction.on_commit(lambda: ring(work))
    return work


def ring(work: Outbox) -> None:
    """Tell a worker. A broker that is away loses nothing: the sweeper rings again."""
    try:
        current_app.tasks[work.name].apply_async(
            headers={"nekibu_work": str(work.id), "nekibu_tenant": str(work.tenant_id)},
            queue=work.queue,
            retry=False,
        )
    except (OperationalError, ConnectionError, OSError) as broken:
        log.warning("doorbell for %s failed: %s", work.id, type(broken).__name__)


def knock(name: str, *, queue: str = "default") -> None:
    """Tell a worker to look into a queue of its own rows. A broker that is away loses nothing: that queue's beat knocks again."""
    try:
        current_app.tasks[name].apply_async(queue=queue, retry=False)
    except (OperationalError, ConnectionError, OSError) as broken:
        log.warning("doorbell for %s failed: %s", name, type(broken).__name__)
