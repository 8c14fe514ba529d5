"""Money is exact; a write price stands in place of the base price; an unknown price is not free."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.cost import (
    MachinePrice,
    TokenPrice,
    break_even,
    from_our_cache,
    per_valid,
    price_seconds,
    price_tokens,
    supports_a_claim,
    total,
)
from inference.types import Cost
from inference.usage import Usage, partition, streamed
from tests.cases import case

D = Decimal


def price(**each: str) -> TokenPrice:
    return TokenPrice("price 1", "USD", "current", **{name: D(value) for name, value in each.items()})


def usage(uncached: int = 0, read: int = 0, write: int = 0, output: int = 0, **more) -> Usage:
    return Usage(uncached, read, output, cache_write_5m=write, cache_write_1h=0, **more)


@pytest.mark.parametrize(
    ("used", "prices", "amount"),
    [
        pytest.param(
            usage(uncached=3, write=12304, output=550),
            {"input": "3", "cache_write_5m": "3.75", "output": "15"},
            "0.054399",
            id="ACC-16",
        ),
        pytest.param(usage(write=1000), {"input": "3", "cache_write_5m": "3.75"}, "0.00375", id="ACC-17"),
        pytest.param(
            usage(uncached=100, write=700, read=200),
            {"input": "1000000", "cache_write_5m": "1250000", "cache_read": "100000"},
            "995",
            id="ACC-18",
        ),
        pytest.param(
            usage(uncached=10, read=66360, write=32435, output=5120),
            {"input": "5.50", "cache_read": "0.55", "cache_write_5m": "6.875", "output": "27.50"},
            "0.400343625",
            id="ACC-19",
        ),
        pytest.param(usage(read=10000), {"input": "3", "cache_read": "0.3"}, "0.003", id="ACC-20"),
        pytest.param(
            usage(uncached=2618, read=3456, output=285),
            {"input": "2", "cache_read": "0.20", "output": "8"},
            "0.0082072",
            id="ACC-22",
        ),
        pytest.param(usage(), {}, "0", id="nothing used costs nothing"),
    ],
)
def test_each_bucket_costs_its_own_price_and_no_other(used, prices, amount):
    found = price_tokens(used, price(**prices))
    assert (found.cost, found.version, found.unknown) == (Cost(D(amount), "USD", "current"), "price 1", ())


@case("ACC-19")
def test_a_long_amount_is_shown_to_six_places_and_kept_whole(row):
    assert D("0.400343625").quantize(D("0.000001")) == D("0.400344")


@case("ACC-21")
def test_a_streamed_answer_costs_what_a_whole_one_does(row):
    """10,000 tokens, 8,960 of them read; dropping the figure of the stream gives 0.02."""
    last = {"prompt_tokens": 10000, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 8960}}
    at = price(input="2", cache_read="0.50", output="8")
    for used in (partition(last, "openai"), streamed([{"usage": None}, {"usage": last}], "openai")):
        assert price_tokens(used, at).cost == Cost(D("0.00656"), "USD", "current")


@case("ACC-18")
def test_the_litellm_record_of_both_styles_is_billed_once(row):
    """995 units; base plus cache would be 1,895."""
    both = {
        "prompt_tokens": 1000,
        "cache_creation_input_tokens": 700,
        "cache_read_input_tokens": 200,
        "prompt_tokens_details": {"cached_tokens": 200},
        "completion_tokens": 0,
    }
    at = price(input="1000000", cache_write_5m="1250000", cache_read="100000", output="1")
    assert price_tokens(partition(both, "litellm"), at).cost.amount == 995


@case("ACC-23")
def test_tokens_under_a_key_without_a_price_make_the_cost_unknown(row):
    """For that part and for the total; never 0."""
    found = price_tokens(usage(uncached=10, read=5), price(input="3", output="15"))
    assert (found.cost, found.unknown) == (Cost(None, "USD", "unknown"), ("cache_read",))
    assert total([Cost(D("1"), "USD", "current"), found.cost]) == Cost(None, "USD", "unknown")


@case("ACC-14", "ACC-23")
def test_a_bucket_that_was_not_reported_makes_the_cost_unknown(row):
    silent = partition({"prompt_tokens": 1000, "completion_tokens": 20}, "openai")
    found = price_tokens(silent, price(input="3", cache_read="0.3", output="15"))
    assert found.cost.state == "unknown"
    assert found.unknown == ("uncached", "cache_read")


@case("ACC-05")
def test_a_write_of_an_unknown_time_to_live_has_a_cost_only_where_it_makes_no_difference(row):
    """With one price of writes it is known; with two, only the provider could say."""
    body = {"inputTokens": 300, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 600, "outputTokens": 75}
    each = {"input": "3", "cache_read": "0.3", "cache_write_5m": "3.75", "output": "15"}
    unsplit = partition(body, "bedrock")
    assert price_tokens(unsplit, price(**each)).cost.amount == D("0.004545")
    assert price_tokens(unsplit, price(**each, cache_write_1h="3.75")).cost.amount == D("0.004545")
    two = price_tokens(unsplit, price(**each, cache_write_1h="6"))
    assert (two.cost.amount, two.cost.state, two.unknown) == (None, "unknown", ("cache_write_5m",))
    asked = partition(body, "bedrock", ttl="1h")
    assert price_tokens(asked, price(**each, cache_write_1h="6")).cost.amount == D("0.005895")


@case("ACC-24")
def test_zero_is_a_price_and_a_stale_one_supports_no_claim(row):
    free = price_tokens(usage(uncached=10, read=90), price(input="3", cache_read="0", output="15"))
    assert free.cost == Cost(D("0.00003"), "USD", "current")
    old = price_tokens(usage(uncached=10), replace(price(input="3", output="15"), state="stale"))
    assert old.cost == Cost(D("0.00003"), "USD", "stale")
    assert supports_a_claim(free.cost)
    assert not supports_a_claim(old.cost)
    assert not supports_a_claim(Cost(None, "USD", "unknown"))


@case("ACC-25")
def test_an_answer_from_our_own_cache_costs_no_model_money_and_the_saving_stands_apart(row):
    paid = price_tokens(usage(uncached=1000), price(input="3", output="15"))
    served = from_our_cache(paid)
    assert served.cost == Cost(D(0), "USD", "current")
    assert served.saved == Cost(D("0.003"), "USD", "current")
    assert total([served.cost, paid.cost]).amount == D("0.003")


@case("ACC-26")
def test_three_tenths_are_three_tenths_and_the_same_record_has_the_same_price_bit_by_bit(row):
    tenth = Cost(D("0.1"), "USD", "current")
    assert total([tenth, tenth, tenth]) == Cost(D("0.3"), "USD", "current")
    at = price(input="5.50", cache_read="0.55", cache_write_5m="6.875", output="27.50")
    used = usage(uncached=10, read=66360, write=32435, output=5120)
    assert str(price_tokens(used, at)) == str(price_tokens(used, at))
    newer = price_tokens(used, replace(at, version="price 2", input=D("6")))
    assert newer.version == "price 2" and newer.cost != price_tokens(used, at).cost


@case("ACC-29")
def test_the_sum_of_all_attempts_over_the_valid_decisions(row):
    """0.0460 for 10 decisions of which 8 hold; with none it is undefined, and the spend is shown."""
    spent = Cost(D("0.0460"), "USD", "current")
    found = per_valid(spent, 8)
    assert (found.amount, found.state) == (D("0.00575"), "current")
    none = per_valid(spent, 0)
    assert (none.amount, none.state, none.spent) == (None, "undefined", D("0.0460"))
    assert per_valid(Cost(None, "USD", "unknown"), 8).state == "unknown"
    assert per_valid(Cost(D("1"), "USD", "stale"), 4).state == "stale"


@pytest.mark.parametrize(
    ("write", "read", "uses"),
    [
        pytest.param("1.25", "0.1", 2, id="ACC-30 5 minutes"),
        pytest.param("2", "0.1", 3, id="ACC-30 1 hour"),
        pytest.param("1", "0.5", 2, id="a free write pays at the second use"),
        pytest.param("1.25", "1", None, id="a read at the plain price never pays"),
        pytest.param("0.9", "1", 1, id="a cheaper write pays at once"),
    ],
)
def test_when_a_cached_prefix_pays(write, read, uses):
    assert break_even(D(write), D(read)) == uses


@given(st.decimals("0.1", "10", places=2), st.decimals("0", "0.99", places=2))
def test_the_break_even_is_the_least_number_of_uses_that_is_cheaper(write, read):
    n = break_even(write, read)
    assert n is not None
    assert write + (n - 1) * read < n
    assert n == 1 or write + (n - 2) * read >= n - 1


def test_an_hour_of_the_machine_is_paid_by_its_seconds():
    machine = MachinePrice("price 3", "USD", D("3.60"), "cpu_hour")
    assert price_seconds([0.1, 0.2], machine).cost == Cost(D("0.0003"), "USD", "current")
    assert price_seconds([0.1, None], machine).cost == Cost(None, "USD", "unknown")
    assert price_seconds([], machine).cost == Cost(D(0), "USD", "current")


def test_no_part_costs_nothing_and_two_currencies_have_no_sum():
    assert total([], "TRY") == Cost(D(0), "TRY", "current")
    one = Cost(D("0.1"), "USD", "current")
    assert total([one, Cost(D("0.1"), "USD", "stale")]) == Cost(D("0.2"), "USD", "stale")
    assert total([one, Cost(D("0.1"), "EUR", "current")]).state == "unknown"


TOKENS = st.integers(0, 10**8)
PRICES = st.decimals("0", "1000", places=6)


@given(TOKENS, TOKENS, TOKENS, TOKENS, PRICES, PRICES, PRICES, PRICES)
def test_the_cost_is_the_exact_sum_and_splitting_a_record_changes_nothing(a, b, c, d, i, r, w, o):
    at = TokenPrice("v", "USD", "current", i, r, w, None, o)
    whole = price_tokens(usage(a, b, c, d), at)
    assert whole.cost.amount == (a * i + b * r + c * w + d * o) / 1_000_000
    parts = [
        price_tokens(part, at).cost
        for part in (usage(uncached=a), usage(read=b), usage(write=c), usage(output=d))
    ]
    assert total(parts).amount == whole.cost.amount


@given(st.lists(st.decimals("0", "1000000", places=12), max_size=30), st.randoms())
def test_a_sum_of_money_does_not_depend_on_the_order(amounts, rng):
    costs = [Cost(amount, "USD", "current") for amount in amounts]
    shuffled = costs[:]
    rng.shuffle(shuffled)
    assert total(costs).amount == total(shuffled).amount == sum(amounts, D(0))
