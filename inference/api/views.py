"""Decisions over REST."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from inference import connection, selectors, services
from inference.account import account_of, outcome_json, trace_json
from inference.api import serializers as shapes
from inference.api.events import deciding, watching
from inference.models import Decision
from inference.permissions import InferenceAction
from inference.states import TERMINAL
from inference.types import TaskRequest
from nekibu.api.serializers import ERRORS, WRITE_ERRORS
from nekibu.api.views import BaseView
from nekibu.errors import InvalidInput
from nekibu.tenants.scope import tenant_scope

KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, required=True, description="1 to 255 characters"
)


class EventStream(BaseRenderer):
    """Lets a client ask for events; what is no stream (an error) is written as JSON."""

    media_type = "text/event-stream"
    format = "events"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return json.dumps(data, cls=JSONEncoder, ensure_ascii=False).encode()


class Decisions(BaseView):
    """Decisions of the tenant, and the door for a new one."""

    actions = {"get": InferenceAction.DECISION_READ, "post": InferenceAction.DECISION_CREATE}
    opens_own_scope = True
    renderer_classes = [JSONRenderer, EventStream]

    @extend_schema(
        operation_id="decisions_list",
        parameters=[OpenApiParameter(name, str) for name in ("task", "status", "risk", "subject")],
        responses={200: shapes.DecisionRow(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List decisions, newest first."""
        with tenant_scope(self.actor.tenant_id):
            rows = selectors.decisions_for(self.actor)
            for name, column in (
                ("task", "task"),
                ("status", "status"),
                ("risk", "risk"),
                ("subject", "subject_id"),
            ):
                if wanted := request.query_params.get(name):
                    rows = rows.filter(**{column: wanted})
            return self.page(request, rows, shapes.DecisionRow)

    @extend_schema(
        operation_id="decisions_create",
        parameters=[KEY],
        request=shapes.DecisionIn,
        responses={200: shapes.DecisionOut, 202: shapes.DecisionOut, **WRITE_ERRORS},
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Ask. 200 with the outcome; 202 when it waits for a person, for a worker, or for somebody else's work on it.

        With `Accept: text/event-stream` the answer comes as it is made; a client that goes away stops the engine.
        """
        asked = self._request(request)
        if request.accepted_renderer.media_type == EventStream.media_type:
            with tenant_scope(self.actor.tenant_id):
                services.refuse_early(asked)
            return stream(deciding(asked, get_language() or "tr"))
        if asked.mode == "batch":
            outcome = services.submit(asked)
        else:
            try:
                outcome = services.decide(asked)
            except services.InProgress as busy:
                with tenant_scope(self.actor.tenant_id):
                    return self._answer(Decision.objects.get(pk=busy.data["decision_id"]))
        with tenant_scope(self.actor.tenant_id):
            return self._answer(Decision.objects.get(pk=outcome.decision_id))

    def _answer(self, row: Decision) -> Response:
        said = outcome_json(account_of(row))
        if row.status in TERMINAL:
            return Response(said)
        return self.accepted(said, f"/api/v1/decisions/{row.id}/")

    def _request(self, request: Request) -> TaskRequest:
        shape = shapes.DecisionIn(data=request.data)
        shape.is_valid(raise_exception=True)
        asked = shape.validated_data
        return TaskRequest(
            actor=self.actor,
            task=asked["task"],
            task_version=asked["task_version"],
            subject=(asked["subject"]["type"], asked["subject"]["id"]),
            inputs=asked["inputs"],
            mode=asked["mode"],
            as_of=asked["as_of"],
            deadline_at=asked["deadline_at"],
            locale=asked["locale"],
            correlation=asked["correlation"],
            idempotency_key=idempotency_key(request),
            endpoint="api",
        )


class OneDecision(BaseView):
    """One decision."""

    actions = {"get": InferenceAction.DECISION_READ}

    @extend_schema(operation_id="decisions_read", responses={200: shapes.DecisionOut, **ERRORS})
    def get(self, request: Request, decision_id: UUID) -> Response:
        """Read what is known of it now."""
        return Response(outcome_json(account_of(selectors.decision_for(self.actor, decision_id))))


class Trace(BaseView):
    """The record of one decision."""

    actions = {"get": InferenceAction.TRACE_READ}

    @extend_schema(operation_id="decisions_trace", responses={200: shapes.TraceOut, **ERRORS})
    def get(self, request: Request, decision_id: UUID) -> Response:
        """Read every stage, attempt, check and seal."""
        return Response(trace_json(account_of(selectors.decision_for(self.actor, decision_id))))


class Events(BaseView):
    """One decision as it is made."""

    actions = {"get": InferenceAction.DECISION_READ}
    opens_own_scope = True
    renderer_classes = [EventStream, JSONRenderer]

    @extend_schema(
        operation_id="decisions_events",
        parameters=[OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER)],
        responses={(200, "text/event-stream"): str, **ERRORS},
    )
    def get(self, request: Request, decision_id: UUID) -> HttpResponseBase:
        """Follow it. Each stage carries its number as the event's id, so a broken connection goes on where it broke."""
        with tenant_scope(self.actor.tenant_id):
            selectors.decision_for(self.actor, decision_id)
        seen = request.headers.get("Last-Event-ID", "0")
        if not seen.isdecimal() or len(seen) > 9:
            raise InvalidInput(
                errors=[{"field": "Last-Event-ID", "code": "invalid", "message": _("A number is expected.")}]
            )
        return stream(watching(self.actor, decision_id, int(seen)))


class Cancel(BaseView):
    """Stops one decision."""

    actions = {"post": InferenceAction.DECISION_CANCEL}
    opens_own_scope = True

    @extend_schema(
        operation_id="decisions_cancel", request=None, responses={200: shapes.DecisionOut, **WRITE_ERRORS}
    )
    def post(self, request: Request, decision_id: UUID) -> Response:
        """Cancel it; a closed decision stays as it is. The same call twice is the same as once."""
        services.cancel(actor=self.actor, decision_id=decision_id)
        with tenant_scope(self.actor.tenant_id):
            return Response(outcome_json(account_of(selectors.decision_for(self.actor, decision_id))))


class Override(BaseView):
    """A person's answer in place of the machine's."""

    actions = {"post": InferenceAction.DECISION_OVERRIDE}

    @extend_schema(
        operation_id="decisions_override",
        parameters=[KEY],
        request=shapes.OverrideIn,
        responses={200: shapes.DecisionOut, **WRITE_ERRORS},
    )
    def post(self, request: Request, decision_id: UUID) -> Response:
        """Answer a waiting decision, or supersede a closed one; the answer names the decision that stands now."""
        shape = shapes.OverrideIn(data=request.data)
        shape.is_valid(raise_exception=True)
        outcome = services.override(
            actor=self.actor,
            decision_id=decision_id,
            value=shape.validated_data["value"],
            reason=shape.validated_data["reason"],
            key=idempotency_key(request),
        )
        return Response(outcome_json(account_of(Decision.objects.get(pk=outcome.decision_id))))


class Status(BaseView):
    """The engine, its model and its queues."""

    actions = {"get": InferenceAction.ENGINE_READ}

    @extend_schema(operation_id="inference_status", responses={200: shapes.StatusOut, **ERRORS})
    def get(self, request: Request) -> Response:
        """Read the state of the engine; 503 while the gateway does not answer."""
        state = connection.gateway().state()
        known = {name: getattr(state, name) for name in map(str, shapes.StatusOut().fields)}
        return Response({**known, "model": state.model.rstrip("/").rsplit("/", 1)[-1]})


def idempotency_key(request: Request) -> str:
    """The header that makes a repeated request one act."""
    key = request.headers.get("Idempotency-Key", "")
    if not 1 <= len(key) <= 255:
        raise InvalidInput(
            _("Send an Idempotency-Key header of 1 to 255 characters, so that a repeated request acts once."),
            code="idempotency_key_required",
        )
    return key


def stream(events: Any) -> StreamingHttpResponse:
    """A stream that no proxy holds back."""
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response
