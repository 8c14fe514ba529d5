"""What a model attempt costs: the price of a second of the engine's machine, with the date it was verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.conf import settings

from inference.types import Cost, CostState
from inference.wire import Phases

_ORDER: dict[str, int] = {"current": 0, "stale": 1, "unknown": 2}


@dataclass(frozen=True, slots=True)
class Price:
    """Money for one second of the engine, and how fresh the figure is."""

    amount: Decimal
    currency: str
    version: str
    state: CostState


def engine_price(today: date) -> Price | None:
    """The configured price; None when nobody stated one."""
    raw = settings.ENGINE_SECOND_PRICE
    if not raw or raw.get("amount") is None:
        return None
    verified = date.fromisoformat(raw["verified_on"]) if raw.get("verified_on") else None
    fresh = verified is not None and today <= verified + timedelta(days=int(raw.get("valid_days", 30)))
    version = f"engine-second {raw['amount']} {raw['currency']} {raw.get('verified_on') or 'unverified'}"
    return Price(Decimal(raw["amount"]), raw["currency"], version, "current" if fresh else "stale")


def cost_of(phases: Phases, price: Price | None) -> Cost:
    """Seconds that the engine worked for this attempt times the price. An absent figure makes it unknown, never 0.

    In this form a second that several requests share is charged to each of them in full, so the figure is an upper
    bound; the split by tokens comes with the fitted cost model.
    """
    if price is None or phases.prefill is None or phases.decode is None:
        return Cost(None, price.currency if price else "", "unknown")
    seconds = Decimal(str(phases.prefill)) + Decimal(str(phases.decode))
    return Cost((seconds * price.amount).quantize(Decimal("0.000000000001")), price.currency, price.state)


def total(costs: Iterable[Cost]) -> Cost:
    """All attempts of a decision. One unknown part makes the sum unknown; no attempt at all costs nothing."""
    parts = list(costs)
    state: CostState = max((c.state for c in parts), key=_ORDER.__getitem__, default="current")
    currencies = {c.currency for c in parts if c.currency}
    if state == "unknown" or len(currencies) > 1:
        return Cost(None, next(iter(sorted(currencies)), ""), "unknown")
    default = (settings.ENGINE_SECOND_PRICE or {}).get("currency", "")
    return Cost(
        sum((c.amount or Decimal(0) for c in parts), Decimal(0)), next(iter(currencies), default), state
    )
