"""Reads of the catalogue, always in the tenant's scope: what is in force, how fresh it is, and what can be entered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Case, IntegerField, Prefetch, Q, QuerySet, Value, When

from inference.catalogue import freshness
from inference.catalogue.templates import SELF_HOSTED
from inference.metrics.cost import MachinePrice, TokenPrice
from inference.metrics.cost import Price as PriceValue
from inference.models import Behaviour, Price, PriceKind, Verification
from inference.models.economics import TOKEN_COLUMNS
from inference.types import CostState
from nekibu.errors import NotFound
from nekibu.permissions.actor import Actor

MACHINE = (PriceKind.CPU_HOUR, PriceKind.GPU_HOUR)
ENGINE = (*MACHINE, PriceKind.TOKEN)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a row can be relied on."""

    state: CostState
    verified_at: datetime | None
    verified_by: tuple[str, ...]
    carries_a_claim: bool


def prices_for(actor: Actor) -> QuerySet[Price]:
    """All prices that were ever entered, newest first, with who compared them."""
    return Price.objects.select_related("entered_by").prefetch_related(_seen()).order_by("-id")


def behaviours_for(actor: Actor) -> QuerySet[Behaviour]:
    """All behaviours that were ever entered, newest first."""
    return Behaviour.objects.select_related("entered_by").prefetch_related(_seen()).order_by("-id")


def price_for(actor: Actor, price_id: UUID) -> Price:
    """One price. Raises NotFound, also for another tenant's."""
    found = prices_for(actor).filter(pk=price_id).first()
    if found is None:
        raise NotFound
    return found


def behaviour_for(actor: Actor, behaviour_id: UUID) -> Behaviour:
    """One behaviour. Raises NotFound, also for another tenant's."""
    found = behaviours_for(actor).filter(pk=behaviour_id).first()
    if found is None:
        raise NotFound
    return found


def standing(row: Price | Behaviour, now: datetime) -> Standing:
    """A row's freshness and who it rests on."""
    seen = list(row.verifications.all())
    compared = [freshness.Seen(one.created_at, one.by_id) for one in seen]
    lasts = freshness.PRICES if isinstance(row, Price) else freshness.BEHAVIOURS
    known = {"expires_at": row.expires_at, "now": now, "lasts": lasts}
    return Standing(
        state=freshness.state(compared, **cast("Any", known)),
        verified_at=max((one.at for one in compared), default=None),
        verified_by=tuple(dict.fromkeys(one.by.name for one in seen)),
        carries_a_claim=freshness.carries_a_claim(compared, **cast("Any", known)),
    )


def in_force(
    provider: str,
    models: Sequence[str],
    at: datetime,
    *,
    kinds: Sequence[str],
    region: str = "",
    tier: str = "standard",
) -> Price | None:
    """The price that holds at a moment for the first of these names of a model, else for every model of the provider.

    The most specific row wins, then the latest start, then the one entered last. An expired row still holds, as a stale
    one, until another takes its place.
    """
    rows = Price.objects.filter(
        Q(model__in=models) | Q(model="*"), Q(region=region) | Q(region=""),
        provider=provider, kind__in=kinds, tier=tier, effective_from__lte=at,
    )  # fmt: skip
    return _most_specific(rows, models, region).prefetch_related(_seen()).first()


def behaviour_in_force(provider: str, models: Sequence[str], at: datetime) -> Behaviour | None:
    """How a cache behaves at a moment, by the same rule."""
    rows = Behaviour.objects.filter(
        Q(model__in=models) | Q(model="*"), provider=provider, effective_from__lte=at
    )
    return _most_specific(rows, models).prefetch_related(_seen()).first()


def engine_price(models: Sequence[str], at: datetime) -> PriceValue | None:
    """What the own engine costs: by the hour of its machine, or by tokens. None while nobody has stated it."""
    row = in_force(SELF_HOSTED, models, at, kinds=ENGINE)
    return None if row is None else value_of(row, at)


def value_of(row: Price, at: datetime) -> PriceValue:
    """A row as the value that prices attempts; its id is the version that they store."""
    state = standing(row, at).state
    if row.kind == PriceKind.TOKEN:
        columns = {name: getattr(row, name) for name in TOKEN_COLUMNS if name != "storage_hour"}
        return TokenPrice(str(row.id), row.currency, state, **columns)
    return MachinePrice(str(row.id), row.currency, row.amount, cast("Any", row.kind), state)


def _most_specific(rows: QuerySet[Any], models: Sequence[str], region: str = "") -> QuerySet[Any]:
    names = [When(model=name, then=Value(place)) for place, name in enumerate(models)]
    order = []
    if names:
        order.append(Case(*names, default=Value(len(models)), output_field=IntegerField()))
    if region:
        order.append(Case(When(region=region, then=Value(0)), default=Value(1), output_field=IntegerField()))
    return rows.order_by(*order, "-effective_from", "-id")


def _seen() -> Prefetch[str, Any, str]:
    return Prefetch("verifications", Verification.objects.select_related("by").order_by("id"))
