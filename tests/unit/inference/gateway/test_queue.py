"""Bands, bounds and order of the queue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.gateway.queue import Queue, Waiting
from inference.gateway.salt import Salt
from inference.slo import CLASSES, Band
from inference.wire import Refused
from tests.unit.inference.gateway.tickets import ticket


def waiting(name="", band=Band.INTERACTIVE, expires=100.0, shared=True, **changes):
    made = ticket(band=band, prefix_hash=name, **changes)
    return Waiting(made, Salt("v", "n", shared), 0.0, expires)


def everything(queue):
    """All, in the order of service."""
    found = []
    while (next_ := queue.pop(lambda w: False, lambda w: True)) is not None:
        found.append(next_)
    return found


def test_a_band_is_served_before_the_next_whatever_came_first():
    queue = Queue()
    late = {band: waiting(band=band) for band in (Band.BATCH, Band.STANDARD, Band.INTERACTIVE)}
    for item in late.values():
        queue.push(item)
    assert everything(queue) == [late[Band.INTERACTIVE], late[Band.STANDARD], late[Band.BATCH]]


@given(st.lists(st.sampled_from(list(Band)), max_size=30))
def test_within_a_band_the_first_come_is_the_first_served(bands):
    queue = Queue()
    items = [waiting(band=band) for band in bands]
    for item in items:
        assert queue.push(item) is None
    assert everything(queue) == sorted(items, key=lambda w: list(Band).index(w.ticket.band))


@pytest.mark.parametrize("band", Band)
def test_a_full_band_refuses_with_a_time_to_come_back_and_the_others_stay_open(band):
    queue = Queue()
    for _ in range(CLASSES[band].queue_bound):
        assert queue.push(waiting(band=band)) is None
    assert queue.push(waiting(band=band)) == Refused("queue_full", retry_after=10.0)
    assert queue.counts()[band] == CLASSES[band].queue_bound
    for other in set(Band) - {band}:
        assert queue.push(waiting(band=other)) is None


def test_what_is_pushed_back_goes_before_all_who_came_later_also_into_a_full_band():
    queue = Queue()
    items = [waiting() for _ in range(CLASSES[Band.INTERACTIVE].queue_bound)]
    for item in items:
        queue.push(item)
    lost = [queue.pop(lambda w: False, lambda w: True) for _ in range(2)]
    late = [waiting(), waiting()]
    for item in late:
        queue.push(item)
    for item in lost:
        queue.push_back(item)
    assert everything(queue) == items + late


def test_one_that_follows_lets_others_pass_and_one_without_room_does_not():
    queue = Queue()
    first, second, third = (waiting(str(n)) for n in range(3))
    batch = waiting("b", band=Band.BATCH)
    for item in (first, second, third, batch):
        queue.push(item)
    assert queue.pop(lambda w: w is first, lambda w: True) is second
    assert queue.pop(lambda w: False, lambda w: w is not first) is None
    assert queue.pop(lambda w: w is first, lambda w: w is not third) is None
    assert everything(queue) == [first, third, batch]


def test_only_those_whose_time_is_over_are_taken_out():
    queue = Queue()
    over, not_yet = waiting(expires=5.0), waiting(expires=5.1)
    queue.push(over)
    queue.push(not_yet)
    assert queue.take(lambda w: w.expires <= 5.0) == [over]
    assert everything(queue) == [not_yet]


def test_the_place_counts_the_own_band_and_what_is_ahead_counts_all():
    queue = Queue()
    for band in (Band.INTERACTIVE, Band.INTERACTIVE, Band.BATCH):
        queue.push(waiting(band=band))
    mine = waiting(band=Band.BATCH)
    queue.push(mine)
    assert queue.position(mine) == (2, 3)


def test_whoever_shares_with_nobody_has_no_shared_prefix():
    named = waiting("p", share_hash="s")
    assert named.shared == (("n", "p"), ("n", "s"))
    assert waiting("p", shared=False).shared == ()
    assert waiting("").shared == ()
