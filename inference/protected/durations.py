"""Lengths of time, as ISO 8601 durations; working days stay working days."""

from __future__ import annotations

from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.periods import find_periods

WORKING = " working"


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """Every period of a clause; a calendar counts working days later."""
    for period in find_periods(clause):
        canonical = period.canonical + (WORKING if period.working_days else "")
        yield Found("duration", period.start, period.end, (canonical,))
