"""Beat's doors to approvals."""

from __future__ import annotations

from celery import shared_task

from nekibu.approvals.services import expire_due, remind_due
from nekibu.permissions.actor import Actor
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope


@shared_task(name="approvals.expire", ignore_result=True)
def expire() -> None:
    """Expire what is over its time, tenant by tenant."""
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            expire_due(actor=Actor.system(tenant.id, "beat"))


@shared_task(name="approvals.remind", ignore_result=True)
def remind() -> None:
    """Remind of what waits too long, tenant by tenant."""
    for tenant in Tenant.objects.only("id"):
        with tenant_scope(tenant.id):
            remind_due(actor=Actor.system(tenant.id, "beat"))
