"""Cells add up in any order, come back from a rollup as they were, and say what the raw samples say."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.ledger.cells import COUNTS, TIMES, TOKENS, Cell, merged, shares_above, table_of
from inference.ledger.figures import Figures, to_json
from inference.metrics.goodput import Attainment
from inference.metrics.hits import Reads
from inference.metrics.phases import PARTS, dominant

AMOUNTS = st.decimals("0", "1000", places=12)


def times_of(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    found = {name: rng.exponential(0.1 * (place + 1), n) for place, name in enumerate(PARTS)}
    found["approve"][rng.random(n) < 0.5] = np.nan
    found["e2e"] = np.nansum([found[name] for name in PARTS], axis=0)
    found["model"] = found["e2e"] - np.nan_to_num(found["approve"])
    found["ttft"], found["tpot"] = rng.lognormal(-1, 1, n), np.full(n, np.nan)
    return found


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    whole = st.integers(0, 10**6)
    cell = Cell(
        counts={name: draw(whole) for name in COUNTS},
        statuses={name: draw(whole) for name in draw(st.sets(st.sampled_from(["accepted", "failed"])))},
        tokens={name: draw(whole) for name in TOKENS},
        money={
            (currency, state): (draw(AMOUNTS), draw(whole))
            for currency, state in draw(st.sets(st.tuples(st.sampled_from(["USD", "TRY"]), st.sampled_from(["current", "stale", "unknown"]))))
        },
        reads=Reads(draw(whole), draw(whole), draw(whole), draw(whole), draw(whole), 0.5),
        targets=Attainment(draw(whole), draw(whole), draw(whole)),
    )  # fmt: skip
    cell.observe(times_of(draw(st.integers(0, 40)), draw(st.integers(0, 99))))
    for block in draw(st.sets(st.integers(0, 63), max_size=5)):
        cell.cost_of_block(block, draw(AMOUNTS), draw(st.integers(0, 9)))
    return cell


def said(cell: Cell) -> dict[str, object]:
    """Everything that a cell says, without the order in which it was added up."""
    return {
        **cell.counters(),
        "histograms": {name: histogram.counts for name, histogram in cell.histograms().items()},
        "clusters": cell.clusters().round(9).tolist(),
        "shares": [
            [n, np.round(rows.sum(axis=0), 3).tolist()]
            for n, rows in (shares_above(cell, 0.95, people=people) for people in (True, False))
        ],
    }


@settings(max_examples=40)
@given(st.lists(cells(), min_size=1, max_size=4), st.randoms())
def test_cells_add_up_in_any_order(parts, rng):
    shuffled = parts[:]
    rng.shuffle(shuffled)
    assert said(merged(shuffled)) == said(merged(parts))


@settings(max_examples=40)
@given(st.lists(cells(), min_size=1, max_size=3))
def test_a_cell_comes_back_from_a_rollup_as_it_was(parts):
    cell = merged(parts)
    again = Cell.stored(cell.counters(), *cell.packed())
    assert said(again) == said(cell)
    assert sum(amount for amount, _n in again.money.values()) == sum(a for a, _n in cell.money.values())


def test_samples_that_are_split_give_the_histograms_of_the_whole():
    whole = times_of(500, 1)
    one, two = Cell(), Cell()
    one.observe(whole)
    for part in (slice(0, 123), slice(123, 500)):
        two.observe({name: values[part] for name, values in whole.items()})
    assert said(one) == said(two)
    for name in TIMES:
        assert one.histograms()[name].n == int(np.count_nonzero(~np.isnan(whole[name])))


@pytest.mark.parametrize("people", [True, False])
def test_the_slow_ones_of_sums_are_those_of_the_samples_and_a_few_more(people):
    cell, times = Cell(), times_of(4000, 3)
    for part in np.array_split(np.arange(4000), 30):
        cell.observe({name: values[part] for name, values in times.items()})
    n, rows = shares_above(cell, 0.95, people=people)
    table, whole = table_of(times, people=people)
    assert n == len(whole) == 4000
    slow = whole >= np.sort(whole)[int(0.95 * n) - 1]
    assert slow.sum() <= rows[:, 0].sum() <= 2.5 * slow.sum()
    exact = dominant(table, PARTS)
    found = Figures(cell, 60.0, None)
    read = found.dominant if people else found.dominant_machine
    assert read.shares[0].phase == exact.shares[0].phase
    assert read.shares[0].mean == pytest.approx(exact.shares[0].mean, abs=0.05)
    if not people:
        assert all(share.mean == 0 for share in read.shares if share.phase == "approve")


def test_two_currencies_have_no_sum_and_an_unknown_cost_makes_every_sum_unknown():
    cell = Cell(money={("USD", "current"): (Decimal("1"), 3), ("TRY", "current"): (Decimal("5"), 1)})
    told = to_json(Figures(cell, 1.0, None))["cost"]
    assert [(row["currency"], row["amount"], row["known"]) for row in told] == [
        ("TRY", None, "5"),
        ("USD", None, "1"),
    ]
    part = Cell(money={("USD", "current"): (Decimal("1"), 3), ("USD", "unknown"): (Decimal(0), 2)})
    spent = Figures(part, 1.0, None).spent[0]
    assert (spent.cost.amount, spent.cost.state, spent.known, spent.unknown) == (
        None,
        "unknown",
        Decimal(1),
        2,
    )
    free = Cell(money={("", "current"): (Decimal(0), 4), ("USD", "stale"): (Decimal("2"), 1)})
    spent = Figures(free, 1.0, None).spent
    assert [(one.cost.amount, one.cost.currency, one.cost.state) for one in spent] == [
        (Decimal(2), "USD", "stale")
    ]
