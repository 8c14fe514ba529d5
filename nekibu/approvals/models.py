"""Requests for a person's word, and the words given."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from nekibu.approvals.states import Status, VerdictKind
from nekibu.tenants.models import TenantModel
from nekibu.users.models import User


class ApprovalRequest(TenantModel):
    """A question to a person about exact parameters. A changed parameter voids it."""

    kind = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=60)
    subject_id = models.CharField(max_length=64)
    title = models.CharField(max_length=300)
    group_key = models.CharField(max_length=64, blank=True, default="")
    group_title = models.CharField(max_length=300, blank=True, default="")
    url = models.CharField(max_length=300, blank=True, default="")
    reasons = models.JSONField(default=list)
    parameters = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    params_hash = models.CharField(max_length=64)
    nonce_digest = models.CharField(max_length=64)
    roles = models.JSONField(default=list)
    requested_by = models.JSONField()
    requester = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    assignee = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    due_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PENDING)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_request"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject_id"],
                condition=Q(status="pending"),
                name="approvals_one_pending",
            )
        ]
        indexes = [models.Index(fields=["tenant", "status", "group_key"], name="approvals_inbox")]

    def __str__(self) -> str:
        return self.title


class Verdict(TenantModel):
    """A person's word: what, why, on which parameters. Never changed."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.PROTECT, related_name="verdicts")
    verdict = models.CharField(max_length=20, choices=VerdictKind.choices)
    reason_code = models.CharField(max_length=40, blank=True, default="")
    reason = models.TextField()
    value = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    params_hash = models.CharField(max_length=64)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "approvals_verdict"

    def __str__(self) -> str:
        return self.verdict
