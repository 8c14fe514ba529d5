"""Identifiers sort by creation, also within a millisecond, and name their kind."""

from __future__ import annotations

import time

from nekibu.ids import new_id


def test_ids_sort_in_the_order_in_which_they_were_made() -> None:
    made = [new_id() for _ in range(1000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_an_id_is_of_version_7_and_holds_its_time() -> None:
    before = time.time_ns() // 1_000_000
    made = new_id()
    after = time.time_ns() // 1_000_000
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert before <= made.int >> 80 <= after
