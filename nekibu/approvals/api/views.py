"""The inbox over REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from nekibu.api.serializers import ERRORS, WRITE_ERRORS
from nekibu.api.views import BaseView
from nekibu.approvals import selectors, services
from nekibu.approvals.models import ApprovalRequest, Verdict
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.states import VerdictKind
from nekibu.errors import NotFound
from nekibu.idempotency.decorator import idempotent


class VerdictOut(serializers.ModelSerializer):
    """A word given."""

    person = serializers.CharField(source="person.name")

    class Meta:
        model = Verdict
        fields = ["verdict", "reason", "reason_code", "value", "person", "created_at"]


class ApprovalOut(serializers.ModelSerializer):
    """A request, with exactly the parameters that are to be decided."""

    verdicts = VerdictOut(many=True)

    class Meta:
        model = ApprovalRequest
        fields = [
            "id", "kind", "subject_type", "subject_id", "title", "group_key", "group_title", "reasons", "parameters",
            "params_hash", "roles", "status", "due_at", "expires_at", "created_at", "decided_at", "verdicts",
        ]  # fmt: skip


class DecideIn(serializers.Serializer):
    """A person's word. `params_hash` is that of the request as it was read."""

    verdict = serializers.ChoiceField(choices=VerdictKind.choices)
    reason = serializers.CharField(max_length=2000)
    reason_code = serializers.CharField(max_length=40, required=False, default="")
    value = serializers.JSONField(required=False, default=None)
    params_hash = serializers.CharField(max_length=64)


class Approvals(BaseView):
    """Requests of the tenant; `?status=pending` is the caller's inbox."""

    actions = {"get": ApprovalAction.READ}

    @extend_schema(operation_id="approvals_list", responses={200: ApprovalOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List requests, newest first."""
        rows: Any = selectors.requests_for(self.actor)
        if request.query_params.get("status") == "pending":
            rows = selectors.inbox_for(self.actor).prefetch_related("verdicts__person")
        return self.page(request, rows, ApprovalOut)


class Approval(BaseView):
    """One request."""

    actions = {"get": ApprovalAction.READ}

    @extend_schema(operation_id="approvals_read", responses={200: ApprovalOut, **ERRORS})
    def get(self, request: Request, approval_id: UUID) -> Response:
        """Read one request."""
        return Response(ApprovalOut(_found(self, approval_id)).data)


class Decide(BaseView):
    """A person's word on one request."""

    actions = {"post": ApprovalAction.DECIDE}

    @extend_schema(
        operation_id="approvals_decide", request=DecideIn, responses={200: ApprovalOut, **WRITE_ERRORS}
    )
    @idempotent
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Decide, once."""
        body = DecideIn(data=request.data)
        body.is_valid(raise_exception=True)
        word = body.validated_data
        services.decide(
            actor=self.actor,
            approval_id=approval_id,
            verdict=word["verdict"],
            reason=word["reason"],
            reason_code=word["reason_code"],
            value=word["value"],
            params=word["params_hash"],
        )
        return Response(ApprovalOut(_found(self, approval_id)).data)


def _found(view: BaseView, approval_id: UUID) -> ApprovalRequest:
    row = selectors.requests_for(view.actor).filter(pk=approval_id).first()
    if row is None:
        raise NotFound
    return row
