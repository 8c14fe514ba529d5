"""Work that outlives a request. The outbox is the queue of record: a message on the broker is only a doorbell."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils import timezone

from nekibu.tenants.models import TenantModel


class Outbox(TenantModel):
    """One piece of work. It is claimed with a lease, done once, and rung again when its worker died."""

    name = models.CharField(max_length=100)
    queue = models.CharField(max_length=20, default="default")
    kwargs = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    actor = models.JSONField()
    available_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    fence = models.PositiveBigIntegerField(default=0)
    done_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "jobs_outbox"
        indexes = [
            models.Index(
                fields=["tenant", "available_at"],
                condition=Q(done_at__isnull=True, dead_at__isnull=True),
                name="jobs_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.id}"
