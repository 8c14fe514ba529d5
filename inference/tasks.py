"""Celery doors of inference."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from inference import collecting, services
from inference.batches import closing, running
from inference.batches import services as batches
from inference.errors import EngineDown, GatewayLost
from inference.ledger import chains, keeping
from nekibu.jobs.enqueue import knock
from nekibu.jobs.tasks import tenant_task
from nekibu.permissions.actor import Actor
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope

log = logging.getLogger(__name__)


@tenant_task("inference.decide")
def decide(actor: Actor, *, decision_id: str) -> None:
    """Bring a submitted decision to rest."""
    services.resume(actor, UUID(decision_id))


@shared_task(name="inference.collect_attempts", ignore_result=True)
def collect_attempts() -> None:
    """Write down what the gateway kept for callers who were gone, then tidy up tenant by tenant."""
    try:
        collecting.collect_attempts()
    except (EngineDown, GatewayLost) as away:
        log.info("nothing collected: %s", away.error_code)
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            collecting.tidy(Actor.system(tenant.id, "beat"))


@shared_task(name="inference.keep_accounts", ignore_result=True)
def keep_accounts() -> None:
    """Write the facts of what has come to rest, tenant by tenant, until nothing is due."""
    for tenant in Tenant.objects.only("id"):
        more = True
        while more:
            with tenant_scope(tenant.id):
                more = keeping.keep_up() == keeping.AT_ONCE


@shared_task(name="inference.sum_up_accounts", ignore_result=True)
def sum_up_accounts() -> None:
    """Sum up closed days, forget old prefix hashes and replay new ones, tenant by tenant."""
    now = timezone.now()
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            keeping.drop_chains(now)
            chains.replay()
        more = True
        while more:
            with tenant_scope(tenant.id):
                more = keeping.roll_up(now) == keeping.DAYS_AT_ONCE


@tenant_task("inference.validate_batch")
def validate_batch(actor: Actor, *, batch_id: str) -> None:
    """Read the file of a batch."""
    batches.validate(actor, UUID(batch_id))


@tenant_task("inference.finalize_batch")
def finalize_batch(actor: Actor, *, batch_id: str) -> None:
    """Write the results of a batch."""
    closing.finalize(actor, UUID(batch_id))


@tenant_task("inference.stop_batches")
def stop_batches(actor: Actor) -> None:
    """Stop what is still being answered for batches that were cancelled."""
    closing.stop_strays(actor.tenant_id, timezone.now())


@shared_task(name="inference.run_batches", ignore_result=True)
def run_batches() -> None:
    """Work on one group of a batch, and have the next one worked on after whatever else waits for this worker."""
    if running.run_next():
        knock(batches.DOORBELL, queue="batch")


@shared_task(name="inference.tend_batches", ignore_result=True)
def tend_batches() -> None:
    """Heal what died, end what is over, and ring for what waits, tenant by tenant."""
    now, waiting = timezone.now(), False
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            waiting |= closing.sweep(now)
            closing.delete_due(Actor.system(tenant.id, "beat"), now)
        closing.stop_strays(tenant.id, now)
    if waiting:
        knock(batches.DOORBELL, queue="batch")
