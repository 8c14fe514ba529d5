"""Which engine gets a request: at home while home keeps up, elsewhere when it does not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from inference.gateway.placement import GAP, Load, choose, home

NAMES = st.lists(st.text("abcxyz:/0123456789", min_size=1, max_size=12), min_size=1, max_size=8, unique=True)
KEYS = st.tuples(st.text(max_size=8), st.text(max_size=8))


def idle(*names: str) -> list[Load]:
    return [Load(name, 0.0, 16) for name in names]


@given(KEYS, NAMES)
@settings(max_examples=100)
def test_the_home_of_a_prefix_does_not_depend_on_the_order_of_the_engines(key, names):
    assert home(key, names) == home(key, names[::-1]) == home(key, sorted(names))


@given(KEYS, NAMES, st.text("jkl", min_size=1, max_size=4))
@settings(max_examples=100)
def test_an_engine_that_joins_takes_prefixes_and_moves_none_between_the_others(key, names, joined):
    assert home(key, [*names, joined]) in {home(key, names), joined}


@given(KEYS, NAMES)
@settings(max_examples=100)
def test_an_engine_that_leaves_gives_up_its_own_prefixes_and_no_others(key, names):
    at = home(key, names)
    for gone in names:
        rest = [name for name in names if name != gone]
        if rest and gone != at:
            assert home(key, rest) == at


def test_prefixes_spread_evenly_and_the_parts_of_a_key_are_not_run_together():
    names = ["one", "two", "three"]
    at = [home(("salt", str(number)), names) for number in range(3_000)]
    assert all(800 < at.count(name) < 1_200 for name in names)
    differ = [home((f"{n}a", "b"), names) != home((f"{n}", "ab"), names) for n in range(100)]
    assert any(differ)


@given(KEYS, NAMES)
@settings(max_examples=50)
def test_with_equal_loads_a_shared_prefix_goes_home(key, names):
    assert choose(key, idle(*names), own=100.0, patient=True) == home(key, names)


@given(
    KEYS,
    st.lists(st.floats(0, 1e6), min_size=2, max_size=6),
    st.floats(1, 1e4),
    st.booleans(),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
@settings(max_examples=200)
def test_nobody_is_sent_home_across_a_gap_and_nobody_away_within_it(key, works, own, patient, full):
    loads = [
        Load(str(number), work, 16, full[number])
        for number, work in enumerate(works)
    ]  # fmt: skip
    chosen = next(load for load in loads if load.name == choose(key, loads, own=own, patient=patient))
    at_home = next(load for load in loads if load.name == home(key, [load.name for load in loads]))
    free = [load for load in loads if not load.full]
    least = min((load.work for load in free), default=0.0)
    if not free:
        assert chosen is at_home
    elif chosen is at_home:
        assert at_home.work - least <= GAP * 16 * own or at_home.work == least
        assert patient or not at_home.full
    else:
        assert not chosen.full
        assert chosen.work == least
        assert at_home.work - least > GAP * 16 * own or (at_home.full and not patient)


def test_what_shares_nothing_goes_where_the_least_work_is():
    loads = [Load("a", 30.0, 4), Load("b", 10.0, 4), Load("c", 5.0, 4, full=True)]
    assert choose(None, loads, own=1.0, patient=True) == "b"


def test_an_engine_that_joins_idle_is_given_work_of_the_others():
    names = ["a", "b"]
    key = next(("s", str(n)) for n in range(100) if home(("s", str(n)), names) == "a")
    busy = [Load("a", 16 * 700.0, 16, full=True), Load("b", 0.0, 16)]
    assert choose(key, busy, own=700.0, patient=True) == "b"
    close = [Load("a", 16 * 700.0, 16, full=True), Load("b", 14 * 700.0, 16)]
    assert choose(key, close, own=700.0, patient=True) == "a"
    assert choose(key, close, own=700.0, patient=False) == "b"
