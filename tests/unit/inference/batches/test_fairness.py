"""Whoever has had least is served next, and time without work is not saved up."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from inference.batches.fairness import Standing, lifted, next_of, weigh

A, B, C = (UUID(int=n) for n in (1, 2, 3))


def test_nobody_waits():
    assert next_of(()) is None
    assert lifted(()) == ()


def test_a_tenant_that_comes_back_starts_level_with_whoever_has_waited_longest():
    here, other, new = Standing(A, 900, True), Standing(B, 700, True), Standing(C, 10, False)
    assert [s.served for s in lifted((here, other, new))] == [900, 700, 700]
    ahead = Standing(C, 5_000, False)
    assert lifted((here, ahead))[1].served == 5_000  # nobody is forgiven what he had


def test_what_came_from_the_cache_is_free_and_output_weighs_double():
    assert weigh(100, 10) == 120


@given(
    st.lists(st.integers(1, 64), min_size=20, max_size=120),
    st.lists(st.integers(1, 64), min_size=20, max_size=120),
)
def test_two_tenants_with_work_never_drift_further_apart_than_one_group(first, second):
    """The bound of the design: while both have work, their difference stays within two of the largest claims."""
    queues, seen = {A: list(first), B: list(second)}, {A: Standing(A, 0, False), B: Standing(B, 0, False)}
    largest = max(*first, *second)
    while queues[A] and queues[B]:
        for standing in lifted(tuple(seen.values())):
            seen[standing.tenant_id] = standing
        turn = next_of(tuple(seen.values()))
        assert turn is not None
        cost = queues[turn.tenant_id].pop(0)
        seen[turn.tenant_id] = replace(turn, served=turn.served + cost)
        assert abs(seen[A].served - seen[B].served) <= 2 * largest
