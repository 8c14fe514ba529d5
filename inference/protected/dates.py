"""Dates at the precision that is stated; what no calendar has is kept as doubtful."""

from __future__ import annotations

from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.dates import find_dates, find_invalid_dates


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """`2/1/2026` is 2 January in a Turkish document and has two readings elsewhere; `2.1.2026` has one everywhere."""
    for date in find_dates(clause, day_first=True if writing == "tr" else None):
        if date.alternatives and "/" in date.raw:
            yield Found("date", date.start, date.end, date.alternatives)
        else:
            yield Found(
                "date", date.start, date.end, (date.canonical,), date.ambiguous and not date.alternatives
            )
    for invalid in find_invalid_dates(clause):
        yield Found("date", invalid.start, invalid.end, (invalid.raw,), True)
