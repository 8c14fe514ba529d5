"""What the API says of approvals, and what it takes."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from nekibu.approvals.authority import approvals_of
from nekibu.approvals.models import ApprovalRequest, Delegation, Verdict
from nekibu.approvals.states import VerdictKind


class VerdictOut(serializers.ModelSerializer):
    """A word given, in whose name, and whether it was taken back."""

    person = serializers.CharField(source="person.name")
    on_behalf_of = serializers.CharField(source="on_behalf_of.name", default=None)
    taken_back = serializers.SerializerMethodField()

    class Meta:
        model = Verdict
        fields = [
            "verdict", "reason", "reason_code", "value", "diff", "params_hash", "new_params_hash", "person", "on_behalf_of",
            "stepped_up", "taken_back", "created_at",
        ]  # fmt: skip

    def get_taken_back(self, word: Verdict) -> bool:
        """Whether its speaker took it back."""
        return getattr(word, "retraction", None) is not None


class ApprovalOut(serializers.ModelSerializer):
    """A request, with exactly the parameters that are to be decided."""

    verdicts = VerdictOut(many=True)
    assignee = serializers.CharField(source="assignee.name", default=None)
    requester = serializers.SerializerMethodField()
    approvals = serializers.SerializerMethodField()
    superseded_by = serializers.SerializerMethodField()
    step_up = serializers.BooleanField()

    class Meta:
        model = ApprovalRequest
        fields = [
            "id", "kind", "subject_type", "subject_id", "title", "group_key", "group_title", "reasons", "parameters",
            "params_hash", "roles", "quorum", "approvals", "four_eyes", "risk", "step_up", "status", "requester", "assignee",
            "supersedes", "superseded_by", "due_at", "expires_at", "created_at", "decided_at", "executed_at", "verdicts",
        ]  # fmt: skip

    def get_requester(self, request: ApprovalRequest) -> str:
        """Who asked: a person or a part of the system."""
        return str(request.requested_by.get("name", ""))

    def get_approvals(self, request: ApprovalRequest) -> int:
        """How many approvals count until now."""
        return approvals_of(request)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_superseded_by(self, request: ApprovalRequest) -> Any:
        """The request that took its place, if it had to be asked again."""
        later = getattr(request, "superseded_by", None)
        return later.id if later else None


class DecideIn(serializers.Serializer):
    """A person's word. `params_hash` is that of the request as it was read; the If-Match header says the same."""

    verdict = serializers.ChoiceField(choices=VerdictKind.choices)
    reason = serializers.CharField(max_length=2000)
    reason_code = serializers.CharField(max_length=40, required=False, default="")
    value = serializers.JSONField(required=False, default=None)
    params_hash = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)


class HandOverIn(serializers.Serializer):
    """Who is to decide one question in the caller's name."""

    user = serializers.UUIDField()
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class DelegationIn(serializers.Serializer):
    """Who is to decide everything in the caller's name, from when until when."""

    user = serializers.UUIDField()
    starts_at = serializers.DateTimeField(required=False, default=None)
    ends_at = serializers.DateTimeField()
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class DelegationOut(serializers.ModelSerializer):
    """One delegation; `request` where it is about one question only."""

    principal = serializers.CharField(source="principal.name")
    delegate = serializers.CharField(source="delegate.name")

    class Meta:
        model = Delegation
        fields = ["id", "principal", "delegate", "request", "starts_at", "ends_at", "ended_at", "note"]
