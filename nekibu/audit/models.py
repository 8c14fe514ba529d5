"""Append-only audit rows of a tenant, chained by hash."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from nekibu.tenants.models import TenantModel


class AuditEvent(TenantModel):
    """One act: who, what, to what, when. `hash` covers the row and the hash before it."""

    seq = models.BigIntegerField()
    at = models.DateTimeField()
    tag = models.CharField(max_length=100)
    actor = models.JSONField()
    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=64)
    payload = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        db_table = "audit_event"
        constraints = [models.UniqueConstraint(fields=["tenant", "seq"], name="audit_seq")]
        indexes = [models.Index(fields=["tenant", "subject_type", "subject_id"], name="audit_subject")]

    def __str__(self) -> str:
        return f"{self.seq} {self.tag}"


class AuditHead(TenantModel):
    """The end of a tenant's chain; its row lock orders the writers."""

    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default="")

    class Meta:
        db_table = "audit_head"
        constraints = [models.UniqueConstraint(fields=["tenant"], name="audit_one_head")]

    def __str__(self) -> str:
        return f"{self.seq}"
