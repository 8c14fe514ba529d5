"""The pauses between two lives of an engine."""

from __future__ import annotations

from inference.gateway.backoff import LONGEST, MANY, STEADY, WINDOW, Backoff


def test_the_pause_doubles_from_a_second_to_a_minute():
    backoff = Backoff()
    pauses = [
        backoff.after(0.0, n * WINDOW)[0] for n in range(9)
    ]  # far apart, so that none of them is one too many
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_after_a_steady_life_it_begins_anew():
    backoff = Backoff()
    for n in range(4):
        backoff.after(0.0, n)
    assert backoff.after(STEADY, 1000.0) == (1.0, False)
    assert backoff.after(STEADY - 1, 1100.0) == (2.0, False)


def test_many_short_lives_in_a_row_mean_that_it_is_down_and_is_tried_once_a_minute():
    backoff = Backoff()
    verdicts = [backoff.after(1.0, n * 10.0) for n in range(MANY + 1)]
    assert [down for _pause, down in verdicts] == [False] * (MANY - 1) + [True, True]
    assert verdicts[-1][0] == LONGEST


def test_short_lives_far_apart_never_mean_down():
    backoff = Backoff()
    assert not any(backoff.after(1.0, n * WINDOW / (MANY - 1))[1] for n in range(50))


def test_one_steady_life_brings_it_back_from_down():
    backoff = Backoff()
    for n in range(MANY):
        backoff.after(0.0, n)
    assert backoff.after(STEADY, 500.0) == (1.0, False)
