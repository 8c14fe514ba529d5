"""The budget of requests that are handed over again."""

from __future__ import annotations

from inference.gateway.retries import ALWAYS, SHARE, WINDOW, Retries


def test_a_few_may_always_be_asked_again_and_then_no_more_until_a_minute_has_passed():
    retries = Retries()
    assert [retries.take(float(n)) for n in range(ALWAYS + 1)] == [True] * ALWAYS + [False]
    assert not retries.take(WINDOW - 1)
    assert retries.take(WINDOW)
    assert not retries.take(WINDOW)


def test_a_tenth_of_what_was_handed_over_may_be_asked_again():
    retries = Retries()
    for n in range(500):
        retries.handed(n / 50)
    assert sum(retries.take(10.0) for _ in range(500)) == SHARE * 500 == 50
    assert sum(retries.take(10.0 + WINDOW) for _ in range(500)) == ALWAYS
