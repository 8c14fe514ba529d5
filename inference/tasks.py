"""Celery doors of inference."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from inference import collecting, services
from inference.errors import EngineDown, GatewayLost
from inference.ledger import chains, keeping
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
