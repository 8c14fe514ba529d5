"""Bands, bounds, fairness, deadlines and promises of the queue."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.gateway.cost import Ending
from inference.gateway.policy import FIRST_COME, Policy
from inference.gateway.queue import JUDGED, SURE, Admitted, Promoted, Queue, Room, Waiting
from inference.gateway.salt import Salt
from inference.slo import CLASSES, Band
from inference.wire import Demoted, Refused
from tests.unit.inference.gateway.tickets import ticket

WIDE = Room(slots=1_000, running=0, used=0.0)


def waiting(name="", band=Band.INTERACTIVE, expires=100.0, shared=True, arrived=0.0, **changes):
    made = ticket(band=band, prefix_hash=name, **changes)
    return Waiting(made, Salt("v", "n", shared), arrived, expires)


def pop(queue, follows=lambda w: False, fits=lambda w: True, room=WIDE, now=0.0):
    return queue.pop(room, follows, fits, now)


def everything(queue, **changes):
    """All, in the order of service."""
    found = []
    while (next_ := pop(queue, **changes)) is not None:
        found.append(next_)
    return found


def trained(queue, prefill=1.0, tpot=0.1, key="", band=Band.INTERACTIVE, tenant="teacher"):
    """The queue has seen endings in which the prompt took so many seconds, whatever its length."""
    for _ in range(10):
        one = waiting(band=band, key=key, tenant=tenant)
        queue.push(one, 0.0)
        assert pop(queue) is one
        queue.on_tokens(one, 1, 0.0)
        queue.on_end(one, Ending(5, 10, prefill, tpot), 0.0)
    return queue


def test_a_band_is_served_before_the_next_whatever_came_first():
    queue = Queue()
    late = {band: waiting(band=band) for band in (Band.BATCH, Band.STANDARD, Band.INTERACTIVE)}
    for item in late.values():
        queue.push(item, 0.0)
    assert everything(queue) == [late[Band.INTERACTIVE], late[Band.STANDARD], late[Band.BATCH]]


@given(st.lists(st.sampled_from(list(Band)), max_size=30))
def test_of_one_tenant_and_band_with_equal_deadlines_the_first_come_is_the_first_served(bands):
    queue = Queue()
    items = [waiting(band=band) for band in bands]
    for item in items:
        assert queue.push(item, 0.0) == Admitted(None)
    assert everything(queue) == sorted(items, key=lambda w: list(Band).index(w.ticket.band))


def test_with_all_rules_off_the_first_come_is_the_first_served_whatever_it_is():
    queue = Queue(FIRST_COME)
    items = [
        waiting(band=Band.BATCH, tenant="u"),
        waiting(ttft=9.0),
        waiting(band=Band.STANDARD, ttft=0.1, on_predicted_miss="demote"),
        waiting(ttft=1.0, tenant="u"),
    ]
    for item in items:
        queue.push(item, 0.0)
    assert queue.tick(50.0) == []
    assert everything(queue) == items


@pytest.mark.parametrize("band", Band)
def test_a_full_band_refuses_with_a_time_to_come_back_and_the_others_stay_open(band):
    queue = Queue()
    for _ in range(CLASSES[band].queue_bound):
        assert queue.push(waiting(band=band), 0.0) == Admitted(None)
    assert queue.push(waiting(band=band), 0.0) == Refused("queue_full", retry_after=10.0)
    assert queue.counts()[band] == CLASSES[band].queue_bound
    assert queue.counts_of["shed_queue_full"] == 1
    for other in set(Band) - {band}:
        assert queue.push(waiting(band=other), 0.0) == Admitted(None)


def test_a_full_band_puts_off_what_may_be_put_off():
    queue = Queue()
    for _ in range(CLASSES[Band.STANDARD].queue_bound):
        queue.push(waiting(band=Band.STANDARD), 0.0)
    late = waiting(band=Band.STANDARD, ttft=4.0, on_predicted_miss="demote")
    assert queue.push(late, 0.0) == Demoted("queue_full")


def test_what_is_pushed_back_goes_before_all_who_came_later_also_into_a_full_band():
    queue = Queue()
    items = [waiting() for _ in range(CLASSES[Band.INTERACTIVE].queue_bound)]
    for item in items:
        queue.push(item, 0.0)
    lost = [pop(queue) for _ in range(2)]
    late = [waiting(), waiting()]
    for item in late:
        queue.push(item, 0.0)
    for item in lost:
        queue.on_end(item, Ending(), 0.0)
        queue.push_back(item, 0.0)
    assert everything(queue) == items + late


def test_one_that_follows_lets_others_pass_and_one_without_room_does_not():
    queue = Queue()
    first, second, third = (waiting(str(n)) for n in range(3))
    batch = waiting("b", band=Band.BATCH)
    for item in (first, second, third, batch):
        queue.push(item, 0.0)
    assert pop(queue, follows=lambda w: w is first) is second
    assert pop(queue, fits=lambda w: w is not first) is None
    assert pop(queue, follows=lambda w: w is first, fits=lambda w: w is not third) is None
    assert everything(queue) == [first, third, batch]


def test_only_those_whose_time_is_over_are_told_so():
    queue = Queue()
    over, not_yet = waiting(expires=5.0), waiting(expires=5.1)
    queue.push(over, 0.0)
    queue.push(not_yet, 0.0)
    assert queue.tick(4.9) == []
    assert queue.tick(5.0) == [(over, Refused("queue_timeout", 5.0))]
    assert everything(queue) == [not_yet]


def test_the_place_counts_the_own_band_and_what_is_ahead_counts_all():
    queue = Queue()
    for band in (Band.INTERACTIVE, Band.INTERACTIVE, Band.BATCH):
        queue.push(waiting(band=band), 0.0)
    mine = waiting(band=Band.BATCH)
    queue.push(mine, 0.0)
    assert queue.position(mine) == (2, 3)


def test_whoever_shares_with_nobody_has_no_shared_prefix():
    named = waiting("p", share_hash="s")
    assert named.shared == (("n", "p"), ("n", "s"))
    assert waiting("p", shared=False).shared == ()
    assert waiting("").shared == ()


# --- what is due, and with whom it shares -----------------------------------------------------------------------------


def test_of_one_tenant_what_is_due_first_goes_first():
    queue = Queue()
    relaxed, pressing = waiting(ttft=9.0), waiting(ttft=2.0)
    without, late = waiting(expires=5.0), waiting(ttft=2.0, arrived=1.0)
    for item in (relaxed, pressing, without, late):
        queue.push(item, item.arrived)
    assert everything(queue) == [pressing, late, without, relaxed]


def test_a_deadline_for_the_whole_answer_leaves_time_for_the_answer():
    queue = trained(Queue(), prefill=1.0, tpot=1.0)
    short, long = waiting(expires=20.0, max_out=2), waiting(expires=20.0, max_out=9)
    queue.push(short, 0.0)
    queue.push(long, 0.0)
    assert long.due < short.due
    assert pop(queue) is long


def test_among_what_is_due_together_the_last_prefix_goes_on_and_no_further():
    queue = Queue()
    first, other, same, far = (
        waiting("p", ttft=1.0),
        waiting("q", ttft=1.01),
        waiting("p", ttft=1.05),
        waiting("q", ttft=1.2),
    )
    for item in (first, other, same, far):
        queue.push(item, 0.0)
    assert everything(queue) == [first, same, other, far]


def test_a_prefix_of_another_namespace_is_not_the_same():
    queue = Queue()
    first, other, foreign = waiting("p", ttft=1.0), waiting("q", ttft=1.01), waiting("p", ttft=1.02)
    foreign.salt = Salt("w", "m", shared=True)
    for item in (first, other, foreign):
        queue.push(item, 0.0)
    assert everything(queue) == [first, other, foreign]


def test_what_was_handed_over_before_counts_as_read_in_its_namespace_and_in_no_other():
    queue = Queue()
    text = {"input_ids": (7,) * 100, "prefix_tokens": 60, "share_hash": "s", "share_tokens": 90}
    queue.push(waiting("p", **text), 0.0)
    pop(queue)
    again, foreign = waiting("p", **text), waiting("p", **text)
    foreign.salt = Salt("w", "m", shared=True)
    for item in (again, foreign):
        queue.push(item, 0.0)
    assert (again.uncached, foreign.uncached) == (10, 100)
    queue.forget()
    late = waiting("p", **text)
    queue.push(late, 0.0)
    assert late.uncached == 100


# --- tenants ----------------------------------------------------------------------------------------------------------


def test_tenants_take_turns_by_what_they_were_served_and_not_by_how_much_they_ask():
    queue = Queue()
    loud = [waiting(tenant="loud") for _ in range(6)]
    quiet = [waiting(tenant="quiet") for _ in range(2)]
    for item in loud + quiet:
        queue.push(item, 0.0)
    names = [item.tenant for item in everything(queue)]
    assert names[:4].count("quiet") == 2


def test_answers_are_charged_while_they_stream_and_twice_as_much():
    queue = Queue()
    first = waiting(tenant="a", input_ids=(7,) * 10)
    queue.push(first, 0.0)
    pop(queue)
    queue.on_tokens(first, 20, 1.0)
    assert queue.counters.had(Band.INTERACTIVE, "a") == 10 + 2 * 20
    queue.on_end(first, Ending(4, 25, 0.1, 0.1), 2.0)
    assert queue.counters.had(Band.INTERACTIVE, "a") == 4 + 2 * 25


def test_a_try_that_nothing_came_of_costs_nothing():
    queue = Queue()
    lost = waiting(tenant="a")
    queue.push(lost, 0.0)
    pop(queue)
    queue.on_end(lost, Ending(), 1.0)
    assert queue.counters.had(Band.INTERACTIVE, "a") == 0.0


def test_a_tenant_with_twice_the_share_is_served_twice_as_much():
    queue = Queue()
    for _ in range(30):
        queue.push(waiting(tenant="double", share=2.0), 0.0)
        queue.push(waiting(tenant="single"), 0.0)
    names = [pop(queue).tenant for _ in range(30)]
    assert 19 <= names.count("double") <= 21


def test_nobody_saves_up_service_by_being_away():
    queue = Queue()
    for _ in range(20):
        queue.push(waiting(tenant="steady"), 0.0)
    for _ in range(10):
        pop(queue)
    for _ in range(10):
        queue.push(waiting(tenant="back"), 0.0)
    names = [pop(queue).tenant for _ in range(10)]
    assert 4 <= names.count("steady") <= 6


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40)), min_size=30, max_size=60),
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40)), min_size=30, max_size=60),
    st.integers(1, 6),
)
def test_two_tenants_who_always_wait_are_never_further_apart_than_the_bound(one, two, slots):
    queue = Queue()
    lengths = {"a": iter(one), "b": iter(two)}
    length, backlog = {}, Counter()

    def ask(tenant):
        given_, write = next(lengths[tenant], (0, 0))
        if given_:
            item = waiting(tenant=tenant, input_ids=(7,) * given_, max_out=40)
            length[item.ticket.attempt_id] = write
            backlog[tenant] += 1
            queue.push(item, 0.0)

    for tenant in "ab":
        for _ in range(8):
            ask(tenant)
    inside, served, apart = {}, {"a": 0.0, "b": 0.0}, [0.0]
    while min(backlog["a"], backlog["b"]) > 0:
        item = pop(queue, fits=lambda w: len(inside) < slots)
        if item is not None:
            inside[item] = 0
            backlog[item.tenant] -= 1
            served[item.tenant] += len(item.ticket.input_ids)
            ask(item.tenant)
        else:
            for running in list(inside):
                inside[running] += 1
                served[running.tenant] += 2
                queue.on_tokens(running, 1, 0.0)
                if inside[running] == length[running.ticket.attempt_id]:
                    read = len(running.ticket.input_ids)
                    queue.on_end(running, Ending(read, inside.pop(running)), 0.0)
        apart.append(served["a"] - served["b"])
    assert max(apart) - min(apart) <= 2 * max(60, 2 * slots * (60 + 40))  # input and output in flight


# --- batch ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("room", "held"),
    [
        (Room(slots=8, running=5, used=0.79), False),
        (Room(slots=8, running=6, used=0.1), True),
        (Room(slots=8, running=0, used=0.8), True),
    ],
)
def test_batch_leaves_room_in_the_engine(room, held):
    queue = Queue()
    batch = waiting(band=Band.BATCH)
    queue.push(batch, 0.0)
    assert pop(queue, room=room) is (None if held else batch)
    standard = waiting(band=Band.STANDARD)
    queue.push(standard, 0.0)
    assert pop(queue, room=room) is standard


def test_batch_stays_outside_while_somebody_waits_in_person():
    queue = Queue()
    batch, person = waiting(band=Band.BATCH), waiting()
    queue.push(batch, 0.0)
    queue.push(person, 0.0)
    assert pop(queue, follows=lambda w: w is person) is None
    assert everything(queue) == [person, batch]


def test_batch_stays_outside_while_too_many_promises_are_broken_and_no_longer():
    queue = Queue()
    for _ in range(JUDGED):
        late = waiting(ttft=1.0)
        queue.push(late, 0.0)
        pop(queue)
        queue.on_tokens(late, 1, 1.5)
        queue.on_end(late, Ending(5, 1), 1.5)
    batch = waiting(band=Band.BATCH)
    queue.push(batch, 2.0)
    assert pop(queue, now=2.0) is None
    assert pop(queue, now=2.0 + Policy().memory) is batch


# --- promises ---------------------------------------------------------------------------------------------------------


def test_standard_work_that_waited_three_times_its_promise_goes_with_the_front_band():
    queue = Queue()
    old = waiting(band=Band.STANDARD, ttft=2.0)
    queue.push(old, 0.0)
    assert queue.tick(5.9) == []
    assert queue.tick(6.0) == [(old, Promoted(Band.INTERACTIVE))]
    fresh = waiting(ttft=2.0, arrived=6.0)
    queue.push(fresh, 6.0)
    assert everything(queue, now=6.0) == [old, fresh]


def test_batch_work_that_is_nearly_due_goes_with_the_standard_band():
    queue = trained(Queue(), prefill=1.0, tpot=1.0, key="k", band=Band.STANDARD)
    due = waiting(band=Band.BATCH, expires=100.0, key="k", max_out=9)
    queue.push(due, 0.0)
    assert due.run == 10.0
    assert queue.tick(79.9) == []
    assert queue.tick(80.0) == [(due, Promoted(Band.STANDARD))]
    assert pop(queue, room=Room(slots=8, running=7, used=0.85)) is due


@pytest.mark.parametrize(
    ("wish", "answer"), [("demote", Demoted("predicted_miss")), ("reject", Refused("predicted_miss", 1.0))]
)
def test_what_can_no_longer_keep_its_promise_ends_as_its_task_wishes(wish, answer):
    queue = trained(Queue(), prefill=1.0)
    late = waiting(ttft=4.0, on_predicted_miss=wish)
    queue.push(late, 0.0)
    still = 4.0 - SURE * late.prefill
    assert queue.tick(still) == []
    assert queue.tick(still + 0.01) == [(late, answer)]
    assert everything(queue) == []


def test_who_would_rather_be_served_late_stays_and_is_counted():
    queue = trained(Queue(), prefill=1.0)
    late = waiting(ttft=2.0)
    queue.push(late, 0.0)
    assert queue.tick(50.0) == []
    assert queue.counts_of["late"] == 1
    assert everything(queue) == [late]


def test_at_the_door_nobody_is_turned_away_before_anything_was_measured():
    queue = Queue()
    assert pop(queue, room=Room(slots=1, running=1, used=0.9)) is None
    assert queue.push(waiting(ttft=0.001, on_predicted_miss="reject"), 0.0) == Admitted(None)


def test_at_the_door_those_ahead_count_and_those_behind_do_not():
    queue = trained(Queue(), prefill=1.0)
    pop(queue, room=Room(slots=8, running=0, used=0.0))
    for _ in range(4):
        queue.push(waiting(ttft=9.0), 0.0)
        queue.push(waiting(band=Band.BATCH), 0.0)
    hopeless = waiting(ttft=9.5 * 0.4, arrived=6.0, on_predicted_miss="reject")
    refused = queue.push(hopeless, 6.0)
    assert refused == Refused("predicted_miss", pytest.approx(1.0))
    urgent = waiting(ttft=3.0, on_predicted_miss="reject")
    assert isinstance(queue.push(urgent, 0.0), Admitted)


def test_the_backlog_of_one_tenant_does_not_turn_another_away():
    queue = trained(Queue(), prefill=1.0)
    for _ in range(20):
        queue.push(waiting(tenant="loud", ttft=60.0), 0.0)
    quiet = waiting(tenant="quiet", ttft=3.0, arrived=58.0, on_predicted_miss="reject")
    assert isinstance(queue.push(quiet, 58.0), Admitted)
    loud = waiting(tenant="loud", ttft=3.0, arrived=58.0, on_predicted_miss="reject")
    assert isinstance(queue.push(loud, 58.0), Refused)


def test_the_snapshot_tells_predictions_their_error_and_the_spread():
    queue = trained(Queue(), prefill=1.0)
    late, other = waiting(tenant="a", ttft=9.0), waiting(tenant="b", ttft=9.0)
    queue.push(late, 0.0)
    queue.push(other, 0.0)
    said = queue.snapshot()
    assert said["predicted_interactive"] >= 1.0
    assert said["cost_base"] == 1.0
    pop(queue)
    queue.on_tokens(late, 1, 3.0)
    said = queue.snapshot()
    assert said["prediction_error_tail"] == pytest.approx(3.0 - late.predicted)
