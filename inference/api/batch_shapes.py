"""The shapes of batches in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from inference.api.serializers import Strict
from inference.batches.lines import ENDPOINT
from inference.states import BatchStatus, FilePurpose, Window


class FileIn(Strict):
    """A file of questions."""

    purpose = serializers.ChoiceField(choices=[FilePurpose.INPUT.value])
    file = serializers.FileField(allow_empty_file=True)  # an empty one is refused in our own words


class FileOut(serializers.Serializer[Any]):
    """A file of a batch; its bytes are deleted after `delete_after`."""

    id = serializers.UUIDField()
    object = serializers.SerializerMethodField()
    purpose = serializers.ChoiceField(choices=FilePurpose.choices)
    filename = serializers.CharField(source="name")
    bytes = serializers.IntegerField(source="size")
    sha256 = serializers.CharField()
    lines = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    delete_after = serializers.DateTimeField(allow_null=True)
    deleted_at = serializers.DateTimeField(allow_null=True)

    def get_object(self, row: Any) -> str:
        """What kind of thing it is."""
        return "file"


class BatchIn(Strict):
    """A batch to start."""

    input_file_id = serializers.UUIDField()
    endpoint = serializers.ChoiceField(choices=[ENDPOINT], default=ENDPOINT)
    completion_window = serializers.ChoiceField(choices=Window.choices)
    metadata = serializers.DictField(
        child=serializers.CharField(max_length=512, allow_blank=True), required=False, default=dict
    )


class RetryIn(Strict):
    """How long the failed ones may take this time; as long as before if nothing is said."""

    completion_window = serializers.ChoiceField(choices=Window.choices, required=False, default="")


class BatchRow(serializers.Serializer[Any]):
    """A batch in a list."""

    id = serializers.UUIDField()
    object = serializers.SerializerMethodField()
    endpoint = serializers.SerializerMethodField()
    status = serializers.ChoiceField(choices=BatchStatus.choices)
    completion_window = serializers.ChoiceField(source="window", choices=Window.choices)
    metadata = serializers.DictField()
    input_file_id = serializers.UUIDField()
    output_file_id = serializers.UUIDField(allow_null=True)
    error_file_id = serializers.UUIDField(allow_null=True)
    retry_of = serializers.UUIDField(source="retry_of_id", allow_null=True)
    total = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    in_progress_at = serializers.DateTimeField(source="started_at", allow_null=True)
    finalizing_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(source="due_at")

    def get_object(self, row: Any) -> str:
        """What kind of thing it is."""
        return "batch"

    def get_endpoint(self, row: Any) -> str:
        """Where each line is asked."""
        return ENDPOINT


class CountsOut(serializers.Serializer[Any]):
    """Items by state."""

    pending = serializers.IntegerField()
    leased = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    expired = serializers.IntegerField()


class TokensOut(serializers.Serializer[Any]):
    """Tokens so far; null where an attempt did not report them."""

    uncached = serializers.IntegerField(allow_null=True)
    cache_read = serializers.IntegerField(allow_null=True)
    output = serializers.IntegerField(allow_null=True)


class EtaOut(serializers.Serializer[Any]):
    """Seconds until the end, at 90 % confidence, if the pace of the last minutes holds."""

    soonest = serializers.FloatField()
    latest = serializers.FloatField()


class BatchCostOut(serializers.Serializer[Any]):
    """Money so far; `unknown` is not zero."""

    amount = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    state = serializers.ChoiceField(choices=["current", "stale", "unknown"])


class ProgressOut(serializers.Serializer[Any]):
    """How far a batch is."""

    status = serializers.ChoiceField(choices=BatchStatus.choices)
    total = serializers.IntegerField()
    ended = serializers.IntegerField()
    percent = serializers.IntegerField()
    counts = CountsOut()
    tokens = TokensOut()
    cost = BatchCostOut()
    eta = EtaOut(allow_null=True)


class LineErrorOut(serializers.Serializer[Any]):
    """A line that cannot be asked, and what to do about it."""

    line = serializers.IntegerField()
    code = serializers.CharField()
    field = serializers.CharField()
    message = serializers.CharField()
    custom_id = serializers.CharField()


class LineErrorsOut(serializers.Serializer[Any]):
    """The first hundred of them, and how many there are."""

    count = serializers.IntegerField()
    data = LineErrorOut(many=True)  # type: ignore[assignment]


class FailureOut(serializers.Serializer[Any]):
    """How many items have no answer for one reason."""

    status = serializers.CharField()
    cause = serializers.CharField()
    count = serializers.IntegerField()
    first_line = serializers.IntegerField()


class BatchOut(BatchRow):
    """One batch with its progress."""

    progress = ProgressOut()
    line_errors = LineErrorsOut()
    failures = FailureOut(many=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """From a row, its progress and its failures."""
        row = instance["row"]
        return {
            **BatchRow(row).data,
            "progress": progress_json(instance["progress"]),
            "line_errors": {"count": row.error_count, "data": row.errors},
            "failures": instance["failures"],
        }


class ItemRow(serializers.Serializer[Any]):
    """One question of a batch."""

    id = serializers.UUIDField()
    custom_id = serializers.CharField()
    line = serializers.IntegerField()
    status = serializers.CharField()
    attempts = serializers.IntegerField()
    decision_id = serializers.UUIDField(allow_null=True)
    cause = serializers.CharField()
    detail = serializers.ListField(child=serializers.DictField())
    ended_at = serializers.DateTimeField(allow_null=True)


def progress_json(progress: Any) -> dict[str, Any]:
    """Progress as the API, its events and the socket tell it."""
    said: dict[str, Any] = ProgressOut(progress).data
    if progress.cost.amount is not None:
        said["cost"]["amount"] = format(progress.cost.amount.normalize(), "f")
    return said
