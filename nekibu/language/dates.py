"""Dates in a text: single days and months with their places, those that do not exist, and the interval arithmetic."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nekibu.language.intervals import (
    Interval,
    IntervalFinding,
    Months,
    contradictions,
    intervals,
    months_union,
)
from nekibu.language.partial_dates import (
    PartialDate,
    Point,
    Precision,
    parse_end,
    parse_partial,
    points,
)
from nekibu.language.turkish import key

__all__ = [
    "FoundDate",
    "Interval",
    "IntervalFinding",
    "InvalidDate",
    "Months",
    "PartialDate",
    "Precision",
    "contradictions",
    "document_year",
    "find_dates",
    "find_invalid_dates",
    "intervals",
    "months_union",
    "parse_end",
    "parse_partial",
]


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and its place; `canonical` is ISO 8601 at the stated precision."""

    start: int
    end: int
    raw: str
    canonical: str
    value: PartialDate
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()
    inferred_year: bool = False


@dataclass(frozen=True, slots=True)
class InvalidDate:
    """Something written as a date although there is no such day or month."""

    start: int
    end: int
    raw: str


def find_dates(
    text: str, *, day_first: bool | None = True, year: int | None = None, years: bool = False
) -> list[FoundDate]:
    """Every date of a text in order. Periods ("30 gün") are none, and no part that is not stated is invented.

    `day_first` None leaves `2/1/2026` ambiguous with both readings. `year` is the year of the document: with it
    "1 Ocak" is a date whose year is marked as inferred. `years` also reports bare years.
    """
    folded = key(text, collapse=False)
    found: list[FoundDate] = []
    for point in points(folded.text, day_first=day_first):
        value, inferred = _value_of(point, year)
        if value is None or (value.precision == "year" and (not years or point.weak)):
            continue
        if point.weak and not inferred and value.precision == "month":
            continue  # "Mar 19" is a date only beside its partner in a range
        start, end = folded.span(point.start, point.end)
        other = (point.swapped.iso(),) if point.swapped else ()
        short_year = point.weak and value.precision == "day" and not inferred
        readings = (value.iso(), *other) if other else ()
        found.append(
            FoundDate(
                start, end, text[start:end], value.iso(), value, bool(other) or short_year, readings, inferred
            )
        )
    return found


def find_invalid_dates(text: str, *, day_first: bool | None = True) -> list[InvalidDate]:
    """Places written as a date that no calendar has: `29.02.2026`, `2014-13`. They are shown, never shifted."""
    folded = key(text, collapse=False)
    found: list[InvalidDate] = []
    for point in points(folded.text, day_first=day_first):
        if point.value is None and point.yearless is None:
            start, end = folded.span(point.start, point.end)
            found.append(InvalidDate(start, end, text[start:end]))
    return found


def _value_of(point: Point, year: int | None) -> tuple[PartialDate | None, bool]:
    if point.yearless is None or point.yearless[1] is None:
        return point.value, False
    if year is None:
        return None, False
    month, day = point.yearless
    try:
        return PartialDate(year, month, day), True
    except ValueError:
        return None, False


_YEAR_OF_TEXT = re.compile(r"(?<![\d.,/\-])(20\d\d|19[5-9]\d)(?![\d.,/\-]\d|\d)")


def document_year(text: str) -> int | None:
    """The one year that the full dates of a document agree on, else None: nothing is inferred from a tie."""
    years = {date.value.year for date in find_dates(text)} or {
        int(found) for found in _YEAR_OF_TEXT.findall(text)
    }
    return years.pop() if len(years) == 1 else None
