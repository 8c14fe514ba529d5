"""The accounts: facts that are derived from the record of decisions and can be derived again, and what is summed up of them."""

from __future__ import annotations

from django.db import models

from inference.models.decisions import Attempt, Decision
from nekibu.tenants.models import TenantModel


class Slice(TenantModel):
    """One combination of everything that figures are cut by. Facts name it instead of repeating it."""

    product = models.CharField(max_length=40)
    task = models.CharField(max_length=100)
    node = models.CharField(max_length=200, blank=True, default="")
    risk = models.CharField(max_length=2, blank=True, default="")
    language = models.CharField(max_length=10, blank=True, default="")
    model = models.CharField(max_length=300, blank=True, default="")  # empty where no model was asked
    tier = models.CharField(max_length=10, blank=True, default="")
    clock = models.CharField(max_length=10, blank=True, default="")
    band = models.CharField(max_length=12, blank=True, default="")
    cache = models.CharField(
        max_length=12, blank=True, default=""
    )  # hit, miss, unreported; empty without a model

    class Meta:
        db_table = "econ_slice"
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "tenant", "product", "task", "node", "risk", "language", "model", "tier", "clock", "band", "cache",
                ],
                name="slice_once",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.task} {self.model}"


class Fact(TenantModel):
    """One attempt of a decision, or the decision itself where no model was asked.

    The last fact of a decision is its closing one and alone carries what is known of the decision as a whole, so that
    sums over facts count everything once. Facts are written anew whenever the record they rest on has grown.
    """

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+")
    attempt = models.ForeignKey(
        Attempt, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    slice = models.ForeignKey(Slice, on_delete=models.PROTECT, related_name="+", db_index=False)
    asked_at = models.DateTimeField()

    ttft = models.FloatField(null=True)  # at the gateway, its waiting included
    tpot = models.FloatField(null=True)
    input_total = models.PositiveIntegerField(null=True)
    uncached = models.PositiveIntegerField(null=True)
    cache_read = models.PositiveIntegerField(null=True)
    cache_write_5m = models.PositiveIntegerField(null=True)
    cache_write_1h = models.PositiveIntegerField(null=True)
    output = models.PositiveIntegerField(null=True)
    reasoning = models.PositiveIntegerField(null=True)
    estimated = models.BooleanField(default=False)
    usage_refused = models.BooleanField(default=False)
    truncated = models.BooleanField(default=False)
    broken = models.BooleanField(default=False)  # aborted, or failed in the engine
    cost_amount = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    cost_currency = models.CharField(max_length=3, blank=True, default="")
    cost_state = models.CharField(max_length=10)

    closing = models.BooleanField()
    status = models.CharField(max_length=20, blank=True, default="")
    valid = models.BooleanField(default=False)
    schema_failed = models.BooleanField(default=False)
    target = models.CharField(
        max_length=10, blank=True, default=""
    )  # met, missed, cancelled; empty: nothing was sent
    backlog = models.FloatField(null=True)
    prepare = models.FloatField(null=True)
    gateway_queue = models.FloatField(null=True)
    engine_queue = models.FloatField(null=True)
    prefill = models.FloatField(null=True)
    decode = models.FloatField(null=True)
    validate = models.FloatField(null=True)
    approve = models.FloatField(null=True)
    unattributed = models.FloatField(null=True)
    e2e = models.FloatField(null=True)

    class Meta:
        db_table = "econ_fact"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "decision"], condition=models.Q(closing=True), name="fact_closes_once"
            )
        ]
        indexes = [models.Index(fields=["tenant", "asked_at"], name="fact_asked")]

    def __str__(self) -> str:
        return f"{self.decision_id} {self.cost_state}"


class FactDue(TenantModel):
    """A decision whose facts have to be written, or written anew."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "econ_fact_due"
        constraints = [models.UniqueConstraint(fields=["tenant", "decision"], name="fact_due_once")]

    def __str__(self) -> str:
        return str(self.decision_id)


class RollupDay(TenantModel):
    """A day that is summed up. While it is missing, the day is read from its facts."""

    day = models.DateField()
    facts = models.PositiveIntegerField()

    class Meta:
        db_table = "econ_rollup_day"
        constraints = [models.UniqueConstraint(fields=["tenant", "day"], name="rollup_day_once")]

    def __str__(self) -> str:
        return str(self.day)


class Rollup(TenantModel):
    """Counters and histograms of one slice on one day. Never a percentile: those are read from merged histograms."""

    day = models.DateField()
    slice = models.ForeignKey(Slice, on_delete=models.PROTECT, related_name="+", db_index=False)
    counters = models.JSONField()
    buckets = models.BinaryField()  # samples by time and bucket
    blocks = models.BinaryField()  # cost and valid decisions by group of decisions
    shares = models.BinaryField()  # shares of the phases by how long the whole took

    class Meta:
        db_table = "econ_rollup"
        constraints = [models.UniqueConstraint(fields=["tenant", "day", "slice"], name="rollup_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.slice_id}"


class Subtotal(TenantModel):
    """Counters and histograms of one value of one dimension on one day, over all slices; no dimension: of the whole day."""

    day = models.DateField()
    dimension = models.CharField(max_length=10, blank=True)
    value = models.CharField(max_length=300, blank=True)
    counters = models.JSONField()
    buckets = models.BinaryField()
    blocks = models.BinaryField()
    shares = models.BinaryField()

    class Meta:
        db_table = "econ_subtotal"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "dimension", "day", "value"], name="subtotal_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.dimension} {self.value}"


class PrefixChain(TenantModel):
    """Keyed hashes of an attempt's prompt, block by block, so that the best possible sharing can be computed. Kept 7 days."""

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="prefix_chain")
    salt_id = models.CharField(max_length=64, blank=True, default="")
    tokens = models.PositiveIntegerField()
    blocks = models.BinaryField()
    # What it could have shared with earlier prompts if nobody were kept apart, and inside its namespace; null until replayed.
    shared_free = models.PositiveIntegerField(null=True)
    shared_kept = models.PositiveIntegerField(null=True)

    class Meta:
        db_table = "econ_prefix_chain"
        indexes = [
            models.Index(fields=["tenant", "created_at"], name="prefix_chain_age"),
            models.Index(
                fields=["tenant"], condition=models.Q(shared_kept__isnull=True), name="prefix_chain_unplayed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tokens}"
