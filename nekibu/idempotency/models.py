"""Answers already given, by the key that the client chose."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from nekibu.tenants.models import TenantModel


class IdempotencyKey(TenantModel):
    """One key of one endpoint: the hash of its request and, once finished, its answer."""

    endpoint = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    location = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "idempotency_key"
        constraints = [models.UniqueConstraint(fields=["tenant", "endpoint", "key"], name="idempotency_once")]

    def __str__(self) -> str:
        return self.key
