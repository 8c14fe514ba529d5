"""Batches over REST: files of questions, batches, what came of them. The shapes are those that programs know for this."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from inference.api import batch_shapes as shapes
from inference.api.batch_events import watching
from inference.api.views import KEY, EventStream, stream
from inference.batches import selectors, services
from inference.batches.files import JSONL, FileDeleted
from inference.models import Batch, BatchFile
from inference.permissions import InferenceAction
from inference.states import BATCH_CLOSED, FilePurpose, ItemStatus, Window
from nekibu.api.serializers import ERRORS, WRITE_ERRORS
from nekibu.api.views import BaseView
from nekibu.errors import Conflict, InvalidInput
from nekibu.files.ranges import resumable
from nekibu.idempotency.decorator import idempotent
from nekibu.permissions.policies import require
from nekibu.tenants.scope import tenant_scope

RANGE = OpenApiParameter("Range", str, OpenApiParameter.HEADER, description="bytes=first-last")
PART = OpenApiParameter("part", str, enum=["output", "error"], default="output")


class Files(BaseView):
    """Files of questions, and of answers."""

    actions = {"get": InferenceAction.BATCH_READ, "post": InferenceAction.BATCH_CREATE}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="files_list",
        parameters=[OpenApiParameter("purpose", str, enum=list(FilePurpose))],
        responses={200: shapes.FileOut(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List files of batches, newest first."""
        rows = selectors.files_for(self.actor)
        if wanted := request.query_params.get("purpose"):
            rows = rows.filter(purpose=wanted)
        return self.page(request, rows, shapes.FileOut)

    @extend_schema(
        operation_id="files_create",
        parameters=[KEY],
        request={"multipart/form-data": shapes.FileIn},
        responses={201: shapes.FileOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Keep a file of questions, one JSON object in each line. A batch has to be started from it within a day."""
        shape = shapes.FileIn(data=request.data)
        shape.is_valid(raise_exception=True)
        upload = shape.validated_data["file"]
        held = services.keep_file(actor=self.actor, name=upload.name, chunks=upload.chunks())
        return Response(shapes.FileOut(held).data, status=status.HTTP_201_CREATED)


class OneFile(BaseView):
    """One file of a batch."""

    actions = {"get": InferenceAction.BATCH_READ}

    @extend_schema(operation_id="files_read", responses={200: shapes.FileOut, **ERRORS})
    def get(self, request: Request, file_id: UUID) -> Response:
        """Read what is known of it."""
        return Response(shapes.FileOut(selectors.file_for(self.actor, file_id)).data)


class FileContent(BaseView):
    """The bytes of one file."""

    actions = {"get": InferenceAction.BATCH_READ}

    @extend_schema(
        operation_id="files_content",
        parameters=[RANGE],
        responses={(200, JSONL): OpenApiTypes.BINARY, (206, JSONL): OpenApiTypes.BINARY, **ERRORS},
    )
    def get(self, request: Request, file_id: UUID) -> HttpResponseBase:
        """Download it, as a whole or a range of it. Its hash is the ETag."""
        require(self.actor, InferenceAction.DECISION_READ)
        return _download(request, selectors.file_for(self.actor, file_id))


class Batches(BaseView):
    """Batches of the tenant, and the door for a new one."""

    actions = {"get": InferenceAction.BATCH_READ, "post": InferenceAction.BATCH_CREATE}

    @extend_schema(
        operation_id="batches_list",
        parameters=[OpenApiParameter("status", str)],
        responses={200: shapes.BatchRow(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List batches, newest first."""
        rows = selectors.batches_for(self.actor)
        if wanted := request.query_params.get("status"):
            rows = rows.filter(status=wanted)
        return self.page(request, rows, shapes.BatchRow)

    @extend_schema(
        operation_id="batches_create",
        parameters=[KEY],
        request=shapes.BatchIn,
        responses={202: shapes.BatchOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Start a batch from a kept file. Lines that cannot be asked are reported in `errors`, and then nothing is."""
        shape = shapes.BatchIn(data=request.data)
        shape.is_valid(raise_exception=True)
        asked = shape.validated_data
        batch = services.start(
            actor=self.actor,
            file_id=asked["input_file_id"],
            window=Window(asked["completion_window"]),
            metadata=asked["metadata"],
        )
        return self.accepted(told(batch), f"/api/v1/batches/{batch.id}/")


class OneBatch(BaseView):
    """One batch."""

    actions = {"get": InferenceAction.BATCH_READ}

    @extend_schema(operation_id="batches_read", responses={200: shapes.BatchOut, **ERRORS})
    def get(self, request: Request, batch_id: UUID) -> Response:
        """Read how far it is, what it has cost so far, how long the rest may take, and why items failed."""
        return Response(told(selectors.batch_for(self.actor, batch_id)))


class Items(BaseView):
    """The items of one batch."""

    actions = {"get": InferenceAction.BATCH_READ}

    @extend_schema(
        operation_id="batches_items",
        parameters=[OpenApiParameter("status", str, enum=list(ItemStatus))],
        responses={200: shapes.ItemRow(many=True), **ERRORS},
    )
    def get(self, request: Request, batch_id: UUID) -> Response:
        """List its questions with what became of each."""
        rows = selectors.items_for(self.actor, selectors.batch_for(self.actor, batch_id))
        if wanted := request.query_params.get("status"):
            rows = rows.filter(status=wanted)
        return self.page(request, rows, shapes.ItemRow)


class Results(BaseView):
    """What came of one batch."""

    actions = {"get": InferenceAction.BATCH_READ}

    @extend_schema(
        operation_id="batches_results",
        parameters=[PART, RANGE],
        responses={(200, JSONL): OpenApiTypes.BINARY, (206, JSONL): OpenApiTypes.BINARY, **ERRORS},
    )
    def get(self, request: Request, batch_id: UUID) -> HttpResponseBase:
        """Download the answers, or with `part=error` the failures. Together they have one line for each question."""
        require(self.actor, InferenceAction.DECISION_READ)
        batch = selectors.batch_for(self.actor, batch_id)
        part = request.query_params.get("part", "output")
        if part not in {"output", "error"}:
            raise InvalidInput(
                errors=[{"field": "part", "code": "invalid", "message": _("Choose “output” or “error”.")}]
            )
        if batch.status not in BATCH_CLOSED:
            raise Conflict(_("The results are written when the batch has ended."), current=batch.status)
        held: BatchFile | None = getattr(batch, f"{part}_file")
        if held is None:
            return HttpResponse(content_type=JSONL)  # there is no such line
        return _download(request, held)


class Events(BaseView):
    """One batch as it goes on."""

    actions = {"get": InferenceAction.BATCH_READ}
    opens_own_scope = True
    renderer_classes = [EventStream, JSONRenderer]

    @extend_schema(operation_id="batches_events", responses={(200, "text/event-stream"): str, **ERRORS})
    def get(self, request: Request, batch_id: UUID) -> HttpResponseBase:
        """Follow it: a `progress` event at once and whenever something moved, `done` when it has ended."""
        with tenant_scope(self.actor.tenant_id):
            selectors.batch_for(self.actor, batch_id)
        return stream(watching(self.actor, batch_id))


class _Act(BaseView):
    """One act on one batch."""

    def done(self, batch: Batch) -> Response:
        """The batch after it."""
        return Response(told(selectors.batch_for(self.actor, batch.id)))


class Pause(_Act):
    """Holds one batch."""

    actions = {"post": InferenceAction.BATCH_CONTROL}

    @extend_schema(
        operation_id="batches_pause",
        parameters=[KEY],
        request=None,
        responses={200: shapes.BatchOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, batch_id: UUID) -> Response:
        """Ask nothing more until it is resumed. Its window goes on."""
        return self.done(services.pause(actor=self.actor, batch_id=batch_id))


class Resume(_Act):
    """Lets one batch go on."""

    actions = {"post": InferenceAction.BATCH_CONTROL}

    @extend_schema(
        operation_id="batches_resume",
        parameters=[KEY],
        request=None,
        responses={200: shapes.BatchOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, batch_id: UUID) -> Response:
        """Go on where it was paused."""
        return self.done(services.resume(actor=self.actor, batch_id=batch_id))


class Cancel(_Act):
    """Stops one batch."""

    actions = {"post": InferenceAction.BATCH_CONTROL}

    @extend_schema(
        operation_id="batches_cancel",
        parameters=[KEY],
        request=None,
        responses={200: shapes.BatchOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, batch_id: UUID) -> Response:
        """Stop it. What was answered stays; the rest become error lines."""
        return self.done(services.cancel(actor=self.actor, batch_id=batch_id))


class Retry(_Act):
    """Asks again what failed."""

    actions = {"post": InferenceAction.BATCH_CREATE}

    @extend_schema(
        operation_id="batches_retry",
        parameters=[KEY],
        request=shapes.RetryIn,
        responses={202: shapes.BatchOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, batch_id: UUID) -> Response:
        """Ask what failed or ran out of time again, as a batch of its own."""
        shape = shapes.RetryIn(data=request.data)
        shape.is_valid(raise_exception=True)
        window = shape.validated_data["completion_window"]
        old = selectors.batch_for(self.actor, batch_id)
        batch = services.retry(actor=self.actor, batch_id=batch_id, window=Window(window or old.window))
        return self.accepted(told(batch), f"/api/v1/batches/{batch.id}/")


def told(batch: Batch) -> Any:
    """A batch with its progress and its failures."""
    return shapes.BatchOut(
        {
            "row": batch,
            "progress": selectors.progress_of(batch),
            "failures": selectors.failures_of(batch),
        }
    ).data


def _download(request: Request, held: BatchFile) -> HttpResponseBase:
    if held.deleted_at is not None:
        raise FileDeleted
    return resumable(request._request, held.stored, JSONL, held.name)
