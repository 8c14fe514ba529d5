"""Batches: the queue of record of everything that is asked in bulk. The text of a question stays in its file, never in a row."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils import timezone

from inference.models.decisions import Decision
from inference.states import BatchStatus, FilePurpose, ItemStatus, Window
from nekibu.files.models import StoredFile
from nekibu.tenants.models import TenantModel


class BatchFile(TenantModel):
    """The lines that a batch was asked with, or those it answered with. The row outlives its bytes."""

    purpose = models.CharField(max_length=10, choices=FilePurpose.choices)
    stored = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    lines = models.PositiveIntegerField(null=True)  # unknown until it has been read
    delete_after = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_file"
        indexes = [
            models.Index(
                fields=["tenant", "delete_after"], condition=Q(deleted_at__isnull=True), name="batch_file_due"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Batch(TenantModel):
    """Many questions that have time. Its status moves by compare-and-set; what was answered stays whatever becomes of it."""

    input_file = models.ForeignKey(BatchFile, on_delete=models.PROTECT, related_name="+")
    output_file = models.ForeignKey(BatchFile, null=True, on_delete=models.PROTECT, related_name="+")
    error_file = models.ForeignKey(BatchFile, null=True, on_delete=models.PROTECT, related_name="+")
    retry_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="retries")
    window = models.CharField(max_length=4, choices=Window.choices)
    status = models.CharField(max_length=12, choices=BatchStatus.choices, default=BatchStatus.VALIDATING)
    actor = models.JSONField()  # with whose rights its questions are asked
    locale = models.CharField(max_length=10)  # in which what is wrong is told
    metadata = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list)  # the first lines that could not be taken
    error_count = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finalizing_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_batch"
        indexes = [
            models.Index(fields=["tenant", "-id"], name="batch_newest"),
            models.Index(fields=["tenant", "due_at"], condition=Q(ended_at__isnull=True), name="batch_open"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.status}"


class BatchItem(TenantModel):
    """One line: where it lies in the file, who works on it, and the decision that it became.

    `fence` grows with each claim; whoever finishes names it, so that an earlier holder's word changes no row.
    """

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="items", db_index=False)
    custom_id = models.CharField(max_length=200)
    line = models.PositiveIntegerField()
    offset = models.PositiveBigIntegerField()
    length = models.PositiveIntegerField()
    line_hash = models.CharField(max_length=64)
    task = models.CharField(max_length=100)
    task_version = models.PositiveIntegerField()
    namespace_hash = models.CharField(max_length=64)
    prefix_hash = models.CharField(max_length=64)
    subject_hash = models.CharField(max_length=64)
    due_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=ItemStatus.choices, default=ItemStatus.PENDING)
    available_at = models.DateTimeField(default=timezone.now)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    fence = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    charged = models.PositiveIntegerField(default=0)  # what the tenant's counter was charged in advance
    decision = models.ForeignKey(Decision, null=True, on_delete=models.PROTECT, related_name="+")
    cause = models.CharField(max_length=60, blank=True, default="")
    detail = models.JSONField(default=list, encoder=DjangoJSONEncoder)  # the fields that were refused
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_batch_item"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "batch", "custom_id"], name="batch_item_once"),
            models.CheckConstraint(
                condition=Q(status=ItemStatus.LEASED) ^ Q(lease_until__isnull=True), name="batch_item_lease"
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "due_at", "prefix_hash", "subject_hash", "line"],
                condition=Q(status=ItemStatus.PENDING),
                name="batch_item_claimable",
            ),
            models.Index(
                fields=["tenant", "lease_until"],
                condition=Q(status=ItemStatus.LEASED),
                name="batch_item_leased",
            ),
            models.Index(fields=["batch", "status"], name="batch_item_status"),
            models.Index(fields=["batch", "line"], name="batch_item_line"),
        ]

    def __str__(self) -> str:
        return f"{self.custom_id} {self.status}"


class BatchShare(TenantModel):
    """What a tenant's batches have been given so far, in weighted tokens. Whoever has had least is served next."""

    served = models.BigIntegerField(default=0)
    usual = models.PositiveIntegerField()  # what one item has cost it lately; charged in advance
    backlogged = models.BooleanField(default=False)

    class Meta:
        db_table = "inference_batch_share"
        constraints = [models.UniqueConstraint(fields=["tenant"], name="batch_share_once")]

    def __str__(self) -> str:
        return str(self.served)
