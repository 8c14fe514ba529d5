"""Decisions and their history. History is append-only; text lives in `Body` alone, encrypted and with a date of deletion."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from inference.states import WORKING, DecisionStatus
from nekibu.tenants.models import TenantModel


class Decision(TenantModel):
    """One question and what became of it. Only its state columns move, by compare-and-set, until a terminal state."""

    endpoint = models.CharField(max_length=40)
    idempotency_key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    task = models.CharField(max_length=100)
    task_version = models.PositiveIntegerField()
    product = models.CharField(max_length=40)
    spec_hash = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=64)
    subject_label = models.CharField(max_length=200, blank=True, default="")
    subject_url = models.CharField(max_length=300, blank=True, default="")
    actor = models.JSONField()
    correlation = models.JSONField(default=dict)
    mode = models.CharField(max_length=10)
    locale = models.CharField(max_length=10)

    status = models.CharField(max_length=20, choices=DecisionStatus.choices, default=DecisionStatus.RECEIVED)
    risk = models.CharField(max_length=2, blank=True, default="")
    tier = models.CharField(max_length=10, blank=True, default="")
    route_reason = models.CharField(max_length=60, blank=True, default="")
    clock = models.CharField(max_length=10, blank=True, default="")
    band = models.CharField(max_length=12, blank=True, default="")
    decided_by = models.CharField(max_length=10, blank=True, default="")
    valid = models.BooleanField(null=True)
    reason = models.CharField(max_length=200, blank=True, default="")
    approval_id = models.UUIDField(null=True)
    cost_amount = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    cost_currency = models.CharField(max_length=3, blank=True, default="")
    cost_state = models.CharField(max_length=10, blank=True, default="")
    price_version = models.CharField(max_length=300, blank=True, default="")  # of its attempts, each once
    supersedes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")

    round = models.PositiveIntegerField(
        default=0
    )  # how often work on it was begun; also the fence of its owner
    owner_until = models.DateTimeField(null=True)
    attempt_id = models.CharField(
        max_length=32, blank=True, default=""
    )  # the attempt that is in the gateway now
    rested_at = models.DateTimeField(null=True)  # when it came to wait for a person
    closed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_decision"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "endpoint", "idempotency_key"], name="decision_one_per_key"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-id"], name="decision_newest"),
            models.Index(fields=["tenant", "task", "-id"], name="decision_task"),
            models.Index(fields=["tenant", "subject_type", "subject_id"], name="decision_subject"),
            models.Index(
                fields=["tenant", "status"], name="decision_working", condition=Q(status__in=sorted(WORKING))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.id}"


class DecisionStep(TenantModel):
    """One stage of the path, with its reasons. `round` tells which try it belongs to."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="steps")
    seq = models.PositiveIntegerField()
    round = models.PositiveIntegerField()
    stage = models.CharField(max_length=30)
    seconds = models.FloatField(null=True)
    payload = models.JSONField(default=dict, encoder=DjangoJSONEncoder)

    class Meta:
        db_table = "inference_step"
        constraints = [models.UniqueConstraint(fields=["tenant", "decision", "seq"], name="step_seq")]
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.seq} {self.stage}"


class Attempt(TenantModel):
    """One try of a model, whatever came of it. A figure that was not reported is null, which is not zero.

    The gateway keeps the record of a try whose caller was gone; that record is a row of its own, `collected`, and
    speaks for the attempt from then on.
    """

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="attempts")
    attempt_id = models.CharField(max_length=32)
    attempt_no = models.PositiveIntegerField()
    round = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    collected = models.BooleanField(default=False)
    finish = models.CharField(max_length=10)
    cause = models.CharField(max_length=60, blank=True, default="")
    served_from = models.CharField(max_length=20, default="engine")
    uncached = models.PositiveIntegerField(null=True)
    cache_read = models.PositiveIntegerField(null=True)
    cache_write_5m = models.PositiveIntegerField(null=True)
    cache_write_1h = models.PositiveIntegerField(null=True)
    output = models.PositiveIntegerField(null=True)
    reasoning = models.PositiveIntegerField(null=True)  # part of output
    input_total = models.PositiveIntegerField(null=True)  # as reported, also where the buckets are not
    dialect = models.CharField(max_length=20, blank=True, default="")
    estimated = models.JSONField(default=list)  # buckets that nobody reported as they stand here
    usage_refused = models.CharField(
        max_length=100, blank=True, default=""
    )  # the figure that contradicted another
    prompt_tokens = models.PositiveIntegerField(null=True)  # our own count
    gateway_queue = models.FloatField(null=True)
    engine_queue = models.FloatField(null=True)
    prefill = models.FloatField(null=True)
    decode = models.FloatField(null=True)
    ttft = models.FloatField(null=True)
    tpot = models.FloatField(null=True)
    requeues = models.PositiveIntegerField(default=0)
    max_out = models.PositiveIntegerField(default=0)
    engine = models.CharField(max_length=100, blank=True, default="")
    model = models.CharField(max_length=300, blank=True, default="")
    model_revision = models.CharField(max_length=100, blank=True, default="")
    engine_fingerprint = models.CharField(max_length=100, blank=True, default="")
    salt_id = models.CharField(max_length=64, blank=True, default="")
    price_version = models.CharField(max_length=60, blank=True, default="")
    cost_amount = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    cost_currency = models.CharField(max_length=3, blank=True, default="")
    cost_state = models.CharField(max_length=10, blank=True, default="")

    class Meta:
        db_table = "inference_attempt"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "attempt_id", "collected"], name="attempt_once_per_source"
            )
        ]
        ordering = ["attempt_no", "collected"]

    def __str__(self) -> str:
        return f"{self.attempt_no} {self.kind}"


class CheckResult(TenantModel):
    """One check of one answer: whether it held, and what it noticed (codes and places, no text)."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="checks")
    attempt_no = models.PositiveIntegerField()
    round = models.PositiveIntegerField()
    seq = models.PositiveIntegerField()
    name = models.CharField(max_length=30)
    passed = models.BooleanField()
    findings = models.JSONField(default=list, encoder=DjangoJSONEncoder)

    class Meta:
        db_table = "inference_check"
        constraints = [models.UniqueConstraint(fields=["tenant", "decision", "seq"], name="check_seq")]
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.name} {'held' if self.passed else 'failed'}"


class Body(TenantModel):
    """The only place with text: an outcome or a waiting request, encrypted under a key of its own."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="bodies")
    part = models.CharField(max_length=20)
    ciphertext = models.BinaryField()
    key_salt = models.BinaryField()
    delete_after = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_body"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "decision", "part"], name="body_one_per_part")
        ]

    def __str__(self) -> str:
        return self.part


class CacheEpoch(TenantModel):
    """How often rights of a class were narrowed; an empty class stands for the whole tenant. It only grows."""

    trust_class = models.CharField(max_length=100, blank=True, default="")
    value = models.PositiveIntegerField(default=1)

    class Meta:
        db_table = "inference_cache_epoch"
        constraints = [models.UniqueConstraint(fields=["tenant", "trust_class"], name="epoch_one_per_class")]

    def __str__(self) -> str:
        return f"{self.trust_class or 'tenant'} {self.value}"


class ChainHead(TenantModel):
    """The end of a tenant's chain of seals; its row lock orders the closings."""

    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default="")

    class Meta:
        db_table = "inference_chain_head"
        constraints = [models.UniqueConstraint(fields=["tenant"], name="seal_one_head")]

    def __str__(self) -> str:
        return str(self.seq)


class DecisionSeal(TenantModel):
    """The closing of a decision: a hash over its whole record and the seal before it."""

    seq = models.BigIntegerField()
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="seals")
    prev_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)
    record = models.JSONField(encoder=DjangoJSONEncoder)

    class Meta:
        db_table = "inference_seal"
        constraints = [models.UniqueConstraint(fields=["tenant", "seq"], name="seal_seq")]

    def __str__(self) -> str:
        return f"{self.seq}"
