"""Money of a decision is exact, and an unknown part makes it unknown."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from inference.catalogue import cost_of, engine_price, total
from inference.types import Cost, Phases

PRICE = {"amount": "0.0001", "currency": "USD", "verified_on": "2026-01-01", "valid_days": 30}


def test_a_price_goes_stale_and_a_missing_one_is_no_price(settings):
    settings.ENGINE_SECOND_PRICE = PRICE
    assert engine_price(date(2026, 1, 31)).state == "current"
    assert engine_price(date(2026, 2, 1)).state == "stale"
    settings.ENGINE_SECOND_PRICE = {**PRICE, "verified_on": None}
    assert engine_price(date(2026, 1, 2)).state == "stale"
    settings.ENGINE_SECOND_PRICE = None
    assert engine_price(date(2026, 1, 2)) is None


@pytest.mark.parametrize(
    ("phases", "amount", "state"),
    [
        (Phases(5.0, 1.0, 0.1, 0.2), Decimal("0.000030000000"), "current"),
        (Phases(5.0, 1.0, None, 0.2), None, "unknown"),
        (Phases(5.0, 1.0, 0.1, None), None, "unknown"),
        (Phases(5.0, 1.0, 0.0, 0.0), Decimal(0), "current"),
    ],
)
def test_seconds_of_the_engine_times_the_price(settings, phases, amount, state):
    settings.ENGINE_SECOND_PRICE = PRICE
    cost = cost_of(phases, engine_price(date(2026, 1, 2)))
    assert (cost.amount, cost.state) == (amount, state)


def test_no_price_is_unknown_and_never_zero():
    assert cost_of(Phases(1.0, 1.0, 1.0, 1.0), None) == Cost(None, "", "unknown")


def test_three_tenths_are_three_tenths(settings):
    settings.ENGINE_SECOND_PRICE = PRICE
    tenth = Cost(Decimal("0.1"), "USD", "current")
    assert total([tenth, tenth, tenth]) == Cost(Decimal("0.3"), "USD", "current")
    assert total([]) == Cost(Decimal(0), "USD", "current")
    assert total([tenth, Cost(Decimal("0.1"), "USD", "stale")]).state == "stale"
    assert total([tenth, Cost(None, "USD", "unknown")]) == Cost(None, "USD", "unknown")
    assert total([tenth, Cost(Decimal("0.1"), "EUR", "current")]).state == "unknown"
