"""The inbox over REST."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from nekibu.api.handler import body as error_body
from nekibu.api.serializers import ERRORS, WRITE_ERRORS, Error
from nekibu.api.views import BaseView
from nekibu.approvals import selectors, services
from nekibu.approvals.api.serializers import (
    ApprovalOut,
    DecideIn,
    DelegationIn,
    DelegationOut,
    HandOverIn,
)
from nekibu.approvals.errors import ApprovalVoid, MethodNotAllowed
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.states import Status
from nekibu.idempotency.decorator import idempotent

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of the request as it was read: the hash of the parameters that are decided. `params_hash` may say it.",
)
FILTERS = [
    OpenApiParameter("status", str, description="`pending` is the caller's own inbox; any other status, all of the tenant."),
    OpenApiParameter("kind", str, description="Only requests of this kind."),
    OpenApiParameter("subject", str, description="Only requests about this subject."),
    OpenApiParameter("group", str, description="Only requests for this role or group."),
]  # fmt: skip


class Approvals(BaseView):
    """Requests of the tenant; `?status=pending` is the caller's inbox."""

    actions = {"get": ApprovalAction.READ}

    @extend_schema(
        operation_id="approvals_list", parameters=FILTERS, responses={200: ApprovalOut(many=True), **ERRORS}
    )
    def get(self, request: Request) -> Response:
        """List requests, newest first."""
        asked = request.query_params
        rows: Any = selectors.requests_for(self.actor)
        if asked.get("status") == Status.PENDING:
            rows = rows.filter(pk__in=selectors.inbox_for(self.actor).order_by().values("pk"))
        elif asked.get("status"):
            rows = rows.filter(status=asked["status"])
        named = {"kind": "kind", "subject": "subject_id", "group": "roles__contains"}
        for name, column in named.items():
            if asked.get(name):
                rows = rows.filter(**{column: [asked[name]] if name == "group" else asked[name]})
        return self.page(request, rows, ApprovalOut)


class Approval(BaseView):
    """One request."""

    actions = {"get": ApprovalAction.READ}

    @extend_schema(operation_id="approvals_read", responses={200: ApprovalOut, **ERRORS})
    def get(self, request: Request, approval_id: UUID) -> Response:
        """Read one request. Its ETag is what a decision has to name in If-Match."""
        return _told(selectors.request_for(self.actor, approval_id))


class PostOnlyView(BaseView):
    """An act: every other method is refused as such, whoever asks."""

    post_only: ClassVar[bool] = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Runs before the right is asked for."""
        if request.method not in {"POST", "OPTIONS"}:
            raise MethodNotAllowed
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A refused method is told which one is meant."""
        finished = super().finalize_response(request, response, *args, **kwargs)
        if finished.status_code == status.HTTP_405_METHOD_NOT_ALLOWED:
            finished["Allow"] = "POST, OPTIONS"
        return finished


class Decide(PostOnlyView):
    """A person's word on one request."""

    actions = {"post": ApprovalAction.DECIDE}

    @extend_schema(
        operation_id="approvals_decide",
        parameters=[IF_MATCH],
        request=DecideIn,
        responses={200: ApprovalOut, **WRITE_ERRORS, 405: Error, 410: Error, 412: Error, 428: Error},
    )
    @idempotent
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Decide, once. 409 names who was faster; 410 when time has run out; 412 when it was another request that was read."""
        body = DecideIn(data=request.data)
        body.is_valid(raise_exception=True)
        word = body.validated_data
        seen = request.headers.get("If-Match", "").removeprefix("W/").strip('"') or word["params_hash"]
        decided = services.decide(
            actor=self.actor,
            approval_id=approval_id,
            verdict=word["verdict"],
            reason=word["reason"],
            reason_code=word["reason_code"],
            value=word["value"],
            params=seen or None,
        )
        told = selectors.request_for(self.actor, approval_id)
        if decided.status == Status.VOID:  # this has to be committed, so it is an answer and not an exception
            later = getattr(told, "superseded_by", None)
            void = ApprovalVoid(superseded_by=str(later.id) if later else None)
            return Response(error_body(void), status=void.status)
        return _told(told)


class HandOver(PostOnlyView):
    """One question in somebody else's hands, in the caller's name."""

    actions = {"post": ApprovalAction.DELEGATE}

    @extend_schema(
        operation_id="approvals_delegate", request=HandOverIn, responses={201: DelegationOut, **WRITE_ERRORS}
    )
    @idempotent
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Let a colleague decide this one request."""
        body = HandOverIn(data=request.data)
        body.is_valid(raise_exception=True)
        made = services.hand_over(
            actor=self.actor,
            approval_id=approval_id,
            user_id=body.validated_data["user"],
            note=body.validated_data["note"],
        )
        return Response(DelegationOut(made).data, status=status.HTTP_201_CREATED)


class Delegations(BaseView):
    """What the caller handed over, and what was handed to the caller."""

    actions = {"get": ApprovalAction.DELEGATE, "post": ApprovalAction.DELEGATE}

    @extend_schema(operation_id="delegations_list", responses={200: DelegationOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List delegations, newest first."""
        return self.page(request, selectors.delegations_of(self.actor), DelegationOut)

    @extend_schema(
        operation_id="delegations_create",
        request=DelegationIn,
        responses={201: DelegationOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Let a colleague decide in the caller's name for a while."""
        body = DelegationIn(data=request.data)
        body.is_valid(raise_exception=True)
        asked = body.validated_data
        made = services.delegate(
            actor=self.actor,
            user_id=asked["user"],
            starts_at=asked["starts_at"],
            ends_at=asked["ends_at"],
            note=asked["note"],
        )
        return Response(DelegationOut(made).data, status=status.HTTP_201_CREATED)


class EndDelegation(PostOnlyView):
    """The end of a delegation."""

    actions = {"post": ApprovalAction.DELEGATE}

    @extend_schema(
        operation_id="delegations_end", request=None, responses={200: DelegationOut, **WRITE_ERRORS}
    )
    @idempotent
    def post(self, request: Request, delegation_id: UUID) -> Response:
        """End it at once."""
        ended = services.end_delegation(actor=self.actor, delegation_id=delegation_id)
        return Response(DelegationOut(ended).data)


def _told(row: ApprovalRequest) -> Response:
    return Response(ApprovalOut(row).data, headers={"ETag": f'"{row.params_hash}"'})
