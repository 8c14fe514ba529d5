"""What people send from the pages of operations."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from inference.ledger.slices import midnight
from inference.models import PriceKind, ServiceTier
from inference.models.economics import TOKEN_COLUMNS
from nekibu.language.numbers import read_number


class _Day(forms.DateField):
    """A day from whose local midnight on something holds."""

    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")

    def clean(self, value: Any) -> datetime | None:
        day: date | None = super().clean(value)
        return midnight(day) if day else None


class _Money(forms.DecimalField):
    """An amount as it is written in Turkish or English. One that can be read in two ways is asked again, never guessed."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        readings = read_number(str(value))
        if len(readings) > 1:
            raise forms.ValidationError(
                _("This can be %(one)s or %(two)s. Write it so that it can only be one of them."),
                code="ambiguous",
                params={"one": f"{readings[0]:f}", "two": f"{readings[1]:f}"},
            )
        return super().to_python(str(readings[0]) if readings else value)


def _money(label: Any) -> _Money:
    return _Money(label=label, required=False, min_value=0, max_digits=18, decimal_places=6)


class _EffectiveForm(forms.Form):
    provider = forms.CharField(label=_("Provider"), max_length=60)
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        initial="*",
        help_text=_("* stands for every model of the provider."),
    )
    effective_from = _Day(label=_("Holds from"))
    expires_at = _Day(label=_("Ends before"), required=False)
    source_url = forms.URLField(
        label=_("Official source"), max_length=500, required=False, assume_scheme="https"
    )
    note = forms.CharField(label=_("Note"), max_length=500, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["effective_from"].initial = timezone.localdate

    def values(self) -> dict[str, Any]:
        """What the service takes; an empty field says nothing."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}


class PriceForm(_EffectiveForm):
    """A price that holds from a day on. A figure that is left empty is unknown, which is not 0."""

    kind = forms.ChoiceField(label=_("What it is for"), choices=PriceKind.choices)
    region = forms.CharField(label=_("Region"), max_length=40, required=False)
    tier = forms.ChoiceField(
        label=_("Service level"), choices=ServiceTier.choices, initial=ServiceTier.STANDARD
    )
    currency = forms.RegexField(
        label=_("Currency"), regex=r"^[A-Z]{3}$", help_text=_("Three capital letters, such as TRY or USD.")
    )
    amount = _money(_("For an hour or a minute"))
    input = _money(_("Input, a million tokens"))
    cache_read = _money(_("Read from the cache, a million tokens"))
    cache_write_5m = _money(_("Written to the cache for 5 minutes, a million tokens"))
    cache_write_1h = _money(_("Written to the cache for an hour, a million tokens"))
    output = _money(_("Output, a million tokens"))
    storage_hour = _money(_("Cache storage, a million tokens for an hour"))
    field_order = (
        "kind", "provider", "model", "region", "tier", "currency", "amount", *TOKEN_COLUMNS, "effective_from", "expires_at",
        "source_url", "note",
    )  # fmt: skip

    @classmethod
    def of_kind(cls, kind: str) -> type[PriceForm]:
        """The form for one kind of price, without the fields that it cannot have."""
        gone = ("amount",) if kind == PriceKind.TOKEN else (*TOKEN_COLUMNS, "region", "tier")
        return type(cls.__name__, (cls,), dict.fromkeys(gone))


class BehaviourForm(_EffectiveForm):
    """What is known of a cache from a day on."""

    min_cacheable = forms.IntegerField(
        label=_("Fewest tokens that are cached at all"), min_value=0, required=False
    )
    granularity = forms.IntegerField(
        label=_("Tokens of the smallest shared part"), min_value=1, required=False
    )
    ttl_seconds = forms.IntegerField(label=_("Seconds that it is kept"), min_value=0, required=False)
    discount_guaranteed = forms.NullBooleanField(label=_("Is the discount guaranteed"), required=False)
    isolation_claim = forms.CharField(
        label=_("What is said about keeping customers apart"), max_length=200, required=False
    )
    field_order = (
        "provider", "model", "granularity", "min_cacheable", "ttl_seconds", "discount_guaranteed", "isolation_claim",
        "effective_from", "expires_at", "source_url", "note",
    )  # fmt: skip


class VerifyForm(forms.Form):
    """A person's word that a row is what its source says."""

    source_url = forms.URLField(
        label=_("Where you looked"), max_length=500, required=False, assume_scheme="https"
    )
    snapshot = forms.FileField(
        label=_("Snapshot of the source"),
        help_text=_("The page or the invoice as a file. Only its fingerprint is kept."),
    )
    compared = forms.BooleanField(label=_("I compared every figure of this row with the source."))
