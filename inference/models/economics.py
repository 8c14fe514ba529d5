"""The catalogue: what things cost and how caches behave, from when on, and who compared it with its source. Only ever added to."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from nekibu.tenants.models import TenantModel

TOKEN_COLUMNS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "storage_hour")


class PriceKind(models.TextChoices):
    """What a price is for."""

    TOKEN = "token", _("Tokens of a model, a million of them")
    GPU_HOUR = "gpu_hour", _("An hour of a GPU machine")
    CPU_HOUR = "cpu_hour", _("An hour of a CPU machine")
    HUMAN_MINUTE = "human_minute", _("A minute of a person")


class ServiceTier(models.TextChoices):
    """The service level a provider sells under one model name."""

    STANDARD = "standard", _("Standard")
    BATCH = "batch", _("Batch")
    FLEX = "flex", _("Flex")
    PRIORITY = "priority", _("Priority")


def _money() -> models.DecimalField[Any, Any]:
    return models.DecimalField(max_digits=18, decimal_places=6, null=True, blank=True)


class Effective(TenantModel):
    """A row that holds from a moment on. A later one of the same key takes its place; nothing is rewritten."""

    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=200, default="*")  # * is every model of the provider
    effective_from = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    source_url = models.URLField(max_length=500, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        abstract = True


class Price(Effective):
    """A price. An empty column is "nobody stated it"; 0 is a price. Token prices are for a million."""

    kind = models.CharField(max_length=12, choices=PriceKind.choices)
    region = models.CharField(max_length=40, blank=True, default="")
    tier = models.CharField(max_length=12, choices=ServiceTier.choices, default=ServiceTier.STANDARD)
    currency = models.CharField(max_length=3)
    amount = _money()  # of an hour or a minute
    input = _money()
    cache_read = _money()
    cache_write_5m = _money()
    cache_write_1h = _money()
    output = _money()
    storage_hour = _money()

    class Meta:
        db_table = "econ_price"
        constraints = [
            models.CheckConstraint(
                name="price_of_one_kind",
                condition=Q(kind="token", amount__isnull=True)
                | (
                    ~Q(kind="token")
                    & Q(amount__isnull=False, **dict.fromkeys((f"{c}__isnull" for c in TOKEN_COLUMNS), True))
                ),
            ),
            models.CheckConstraint(
                name="price_not_below_zero",
                condition=~Q(*((f"{c}__lt", 0) for c in ("amount", *TOKEN_COLUMNS)), _connector=Q.OR),
            ),
            models.CheckConstraint(
                name="price_ends_after_its_start",
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("effective_from")),
            ),
        ]
        indexes = [models.Index(fields=["tenant", "provider", "-effective_from"], name="price_in_force")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} {self.kind}"


class Behaviour(Effective):
    """How a provider's or an engine's prefix cache behaves. None is "nobody stated it"."""

    min_cacheable = models.PositiveIntegerField(null=True, blank=True)  # tokens below which nothing is cached
    granularity = models.PositiveIntegerField(null=True, blank=True)  # tokens of the smallest shared part
    ttl_seconds = models.PositiveIntegerField(null=True, blank=True)
    discount_guaranteed = models.BooleanField(null=True, blank=True)
    isolation_claim = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "econ_behaviour"
        constraints = [
            models.CheckConstraint(
                name="behaviour_shares_at_least_one",
                condition=Q(granularity__isnull=True) | Q(granularity__gte=1),
            ),
            models.CheckConstraint(
                name="behaviour_ends_after_start",
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("effective_from")),
            ),
        ]
        indexes = [models.Index(fields=["tenant", "provider", "-effective_from"], name="behaviour_in_force")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class Verification(TenantModel):
    """A person compared a row with its source and kept the fingerprint of what was seen there."""

    price = models.ForeignKey(Price, null=True, on_delete=models.PROTECT, related_name="verifications")
    behaviour = models.ForeignKey(
        Behaviour, null=True, on_delete=models.PROTECT, related_name="verifications"
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    source_url = models.URLField(max_length=500, blank=True, default="")
    source_sha256 = models.CharField(max_length=64)

    class Meta:
        db_table = "econ_verification"
        constraints = [
            models.CheckConstraint(
                name="verification_of_one_row",
                condition=Q(price__isnull=True, behaviour__isnull=False)
                | Q(price__isnull=False, behaviour__isnull=True),
            )
        ]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.source_sha256[:12]}"
