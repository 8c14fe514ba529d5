"""The state tables of a batch and of its items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.states import BATCH_CLOSED, BATCH_MOVES, ITEM_MOVES, ITEM_OPEN, BatchStatus, ItemStatus

WRITTEN = {BatchStatus.FINALIZING, BatchStatus.CANCELLING}  # results are written before anything is closed


def test_every_state_is_open_or_closed_and_each_is_reachable():
    assert set(BATCH_MOVES) | BATCH_CLOSED == set(BatchStatus)
    assert not set(BATCH_MOVES) & BATCH_CLOSED
    reached, edge = {BatchStatus.VALIDATING}, [BatchStatus.VALIDATING]
    while edge:
        for to in BATCH_MOVES.get(edge.pop(), ()):
            if to not in reached:
                reached.add(to)
                edge.append(to)
    assert reached == set(BatchStatus)


@pytest.mark.parametrize("state", sorted(set(BatchStatus) - BATCH_CLOSED - WRITTEN))
def test_what_is_not_being_written_can_be_cancelled(state):
    assert BatchStatus.CANCELLING in BATCH_MOVES[state]


@given(st.lists(st.sampled_from(sorted(BatchStatus)), max_size=25))
def test_a_walk_pauses_as_often_as_it_likes_and_otherwise_only_goes_forward(walk):
    here, path = BatchStatus.VALIDATING, [BatchStatus.VALIDATING]
    for wanted in walk:
        if wanted in BATCH_MOVES.get(here, frozenset()):
            here = BatchStatus(wanted)
            path.append(here)
    once = [s for s in path if s not in {BatchStatus.IN_PROGRESS, BatchStatus.PAUSED}]
    assert len(once) == len(set(once))
    if here in BATCH_CLOSED and here != BatchStatus.FAILED:
        assert path[-2] in WRITTEN
    if here == BatchStatus.FAILED:
        assert path == [BatchStatus.VALIDATING, BatchStatus.FAILED]


@given(st.lists(st.sampled_from(sorted(ItemStatus)), max_size=25))
def test_an_item_waits_and_is_taken_any_number_of_times_but_ends_once(walk):
    here, path = ItemStatus.PENDING, [ItemStatus.PENDING]
    for wanted in walk:
        if wanted in ITEM_MOVES.get(here, frozenset()):
            here = ItemStatus(wanted)
            path.append(here)
    ended = [s for s in path if s not in ITEM_OPEN]
    assert len(ended) <= 1
    if here in {ItemStatus.DONE, ItemStatus.FAILED}:
        assert path[-2] == ItemStatus.LEASED  # nobody answers what he does not hold
