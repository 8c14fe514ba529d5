"""Tenants, and the base of every row that belongs to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from django.db import models

from nekibu.ids import new_id
from nekibu.tenants.scope import CrossTenant, current_tenant

Row = TypeVar("Row", bound=models.Model)


class Tenant(models.Model):
    """A company. The directory of tenants is the one table without row security: background work walks over it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "tenants_tenant"

    def __str__(self) -> str:
        return self.name


class TenantManager(models.Manager[Row]):
    """Rows of the tenant in scope. Raises `Unscoped` outside a scope, even for `.count()`."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(tenant_id=current_tenant())

    def bulk_create(self, objs: Iterable[Row], *args: Any, **kwargs: Any) -> list[Row]:
        """Create many rows, each in the tenant in scope."""
        rows = list(objs)
        for row in rows:
            _own(row)
        return super().bulk_create(rows, *args, **kwargs)


class TenantModel(models.Model):
    """A row of one tenant: time-ordered id, tenant filled from the scope and never changed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[TenantManager[Any]] = TenantManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save in the tenant in scope; another tenant's row raises `CrossTenant`."""
        _own(self)
        super().save(*args, **kwargs)


def _own(row: Any) -> None:
    tenant_id = current_tenant()
    if row.tenant_id is None:
        row.tenant_id = tenant_id
    elif row.tenant_id != tenant_id:
        raise CrossTenant
