"""The state table of a decision."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.states import FORWARD, MOVES, TERMINAL, WAITING, WORKING, DecisionStatus


def test_every_state_is_exactly_one_of_working_waiting_terminal():
    assert set(DecisionStatus) == WORKING | WAITING | TERMINAL
    assert not WORKING & WAITING and not WORKING & TERMINAL and not WAITING & TERMINAL


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_terminal_state_never_changes(state):
    assert not MOVES.get(state)


@pytest.mark.parametrize("state", sorted(WORKING | WAITING))
def test_what_is_open_can_be_cancelled(state):
    assert DecisionStatus.CANCELLED in MOVES[state]


@given(st.lists(st.sampled_from(sorted(DecisionStatus)), max_size=12))
def test_no_walk_leads_back_or_past_the_checks(walk):
    here, path = DecisionStatus.RECEIVED, [DecisionStatus.RECEIVED]
    for wanted in walk:
        if wanted in MOVES.get(here, frozenset()):
            here = DecisionStatus(wanted)
            path.append(here)
    assert len(set(path)) == len(path)
    if DecisionStatus.ACCEPTED in path:
        assert set(path) & {DecisionStatus.CHECKING, DecisionStatus.NEEDS_PERSON}
    working = [s for s in path if s in WORKING]
    assert working == sorted(working, key=FORWARD.index)
