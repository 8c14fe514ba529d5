"""Freshness of a row, what an attempt costs under it, and that nothing which is shipped claims to be verified."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.catalogue import templates
from inference.catalogue.freshness import BEHAVIOURS, PRICES, Seen, carries_a_claim, state
from inference.catalogue.pricing import price_attempt
from inference.metrics.cost import MachinePrice, TokenPrice
from inference.types import Cost
from inference.usage import Usage
from inference.wire import Phases
from tests.cases import case

NOW = datetime(2026, 1, 31, tzinfo=UTC)
DAY = timedelta(days=1)
ONE, TWO = UUID(int=1), UUID(int=2)
MACHINE = MachinePrice("m", "USD", Decimal("0.36"), "cpu_hour")
TOKENS = TokenPrice("t", "EUR", "stale", Decimal(1), Decimal("0.1"), Decimal(1), Decimal(2), Decimal(4))


@pytest.mark.parametrize(
    ("seen", "expires_at", "lasts", "expected"),
    [
        pytest.param([], None, PRICES, "stale", id="ACC-24 never compared"),
        pytest.param([30], None, PRICES, "current", id="compared 30 days ago"),
        pytest.param([31], None, PRICES, "stale", id="ACC-24 compared 31 days ago"),
        pytest.param([60, 3], None, PRICES, "current", id="compared again"),
        pytest.param([31], None, BEHAVIOURS, "current", id="a behaviour lasts longer"),
        pytest.param([91], None, BEHAVIOURS, "stale", id="and not for ever"),
        pytest.param([1], -1, PRICES, "stale", id="ACC-24 expired yesterday"),
        pytest.param([1], 0, PRICES, "stale", id="expires now"),
        pytest.param([1], 1, PRICES, "current", id="expires tomorrow"),
    ],
)
def test_a_row_is_current_only_while_somebody_has_compared_it_and_it_has_not_expired(
    seen, expires_at, lasts, expected
):
    compared = [Seen(NOW - days * DAY, ONE) for days in seen]
    end = None if expires_at is None else NOW + expires_at * DAY
    assert state(compared, expires_at=end, now=NOW, lasts=lasts) == expected


def test_a_claim_needs_two_people_who_looked_within_the_time():
    one, other = Seen(NOW - DAY, ONE), Seen(NOW - 2 * DAY, TWO)
    assert carries_a_claim([one, other], expires_at=None, now=NOW)
    assert not carries_a_claim([one, Seen(NOW, ONE)], expires_at=None, now=NOW)
    assert not carries_a_claim([one, Seen(NOW - 31 * DAY, TWO)], expires_at=None, now=NOW)
    assert not carries_a_claim([one, other], expires_at=NOW - DAY, now=NOW)


@given(st.lists(st.integers(0, 200), max_size=5), st.integers(0, 100))
def test_time_only_ever_makes_a_row_staler(ages, later):
    seen = [Seen(NOW - age * DAY, ONE) for age in ages]
    if state(seen, expires_at=None, now=NOW) == "stale":
        assert state(seen, expires_at=None, now=NOW + later * DAY) == "stale"


def test_the_own_engine_is_paid_by_its_seconds_or_by_tokens_where_these_have_a_price():
    used, phases = Usage(100, 50, 10, 0, 0), Phases(5.0, 1.0, 0.1, 0.2)
    by_seconds = price_attempt(used, phases, MACHINE)
    assert (by_seconds.cost, by_seconds.version) == (Cost(Decimal("0.00003"), "USD", "current"), "m")
    by_tokens = price_attempt(used, Phases(), TOKENS)
    assert (by_tokens.cost, by_tokens.version) == (Cost(Decimal("0.000145"), "EUR", "stale"), "t")


@pytest.mark.parametrize("phases", [Phases(5.0, 1.0, None, 0.2), Phases(5.0, 1.0, 0.1, None), Phases()])
def test_seconds_that_were_not_observed_make_the_cost_unknown(phases):
    priced = price_attempt(Usage(100, 50, 10), phases, MACHINE)
    assert (priced.cost, priced.version) == (Cost(None, "USD", "unknown"), "m")


@case("ACC-23")
def test_no_price_is_unknown_and_never_zero(row):
    priced = price_attempt(Usage(100, 50, 10, 0, 0), Phases(1.0, 1.0, 1.0, 1.0), None)
    assert (priced.cost, priced.version, priced.unknown) == (Cost(None, "", "unknown"), "", ("price",))


@case("ACC-25")
def test_an_attempt_that_computed_nothing_costs_nothing_and_one_from_our_own_cache_neither(row):
    refused = price_attempt(Usage(uncached=0, cache_read=0, output=0), Phases(), MACHINE)
    assert refused.cost == Cost(Decimal(0), "USD", "current")
    held = price_attempt(Usage(100, 50, 10, 0, 0), Phases(), TOKENS, served_from="response_cache")
    assert held.cost == Cost(Decimal(0), "EUR", "current")
    assert held.saved == Cost(Decimal("0.000145"), "EUR", "stale")


def test_shipped_rows_are_templates_without_an_amount_and_without_a_verification():
    rows = (*templates.PRICES, *templates.BEHAVIOURS)
    slugs = [(type(row), row.slug) for row in rows]
    assert len(slugs) == len(set(slugs))
    for row in rows:
        names = {field.name for field in dataclasses.fields(row)}
        assert not names & {"amount", "input", "output", "verified_at", "verified_by"}
    for price in templates.PRICES:
        assert price.columns
        assert price.source_url.startswith("https://") or price.provider in {templates.SELF_HOSTED, "people"}
    for behaviour in templates.BEHAVIOURS:
        assert behaviour.source_url.startswith("https://")
