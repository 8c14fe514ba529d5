"""Employment dates of a CV: how they are written, and how many months they are, counted month by month."""

from __future__ import annotations

import random
from dataclasses import dataclass

Month = tuple[int, int]

MONTHS_TR = (
    "Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim", "Kasım", "Aralık",
)  # fmt: skip
MONTHS_EN = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
OPEN_TR = ("halen", "devam ediyor", "günümüz")
OPEN_EN = ("Present", "to date", "now")


@dataclass(frozen=True, slots=True)
class Span:
    """One employment: a start, an end or None while it lasts; months are None where only a year is written."""

    start: tuple[int, int | None]
    end: tuple[int, int | None] | None

    @property
    def reversed(self) -> bool:
        """The end stands before the start, which no reading can repair."""
        return self.end is not None and (self.end[0], self.end[1] or 12) < (self.start[0], self.start[1] or 1)

    def as_text(self) -> dict[str, str | None]:
        """Both ends at the stated precision, as YYYY or YYYY-MM."""
        return {"start": _iso(self.start), "end": None if self.end is None else _iso(self.end)}


def _iso(at: tuple[int, int | None]) -> str:
    return f"{at[0]}" if at[1] is None else f"{at[0]}-{at[1]:02d}"


def plus(month: Month, months: int) -> Month:
    """The month that many months later (or earlier)."""
    index = month[0] * 12 + month[1] - 1 + months
    return index // 12, index % 12 + 1


def months_of(spans: list[Span], as_of: Month) -> tuple[int, int]:
    """Fewest and most months the spans can mean: the union, both ends included, reversed spans left out."""
    surest: set[Month] = set()
    widest: set[Month] = set()
    for span in spans:
        if span.reversed:
            continue
        (y1, m1), (y2, m2) = span.start, span.end or as_of
        surest |= _months((y1, m1 or 12), (y2, m2 or 1))
        widest |= _months((y1, m1 or 1), min((y2, m2 or 12), as_of))
    return len(surest), len(widest)


def _months(first: Month, last: Month) -> set[Month]:
    out: set[Month] = set()
    at = first
    while at <= last:
        out.add(at)
        at = plus(at, 1)
    return out


def plan(rng: random.Random, pattern: str, threshold: int, as_of: Month) -> list[Span]:
    """The employments of one pattern, newest first. Which verdict a pattern gives does not age with the clock."""
    year = as_of[0]
    jitter = rng.randint(0, 3)
    if pattern == "open":  # last job still runs
        third = plus((year - 3, 2), -jitter)
        second = plus(third, -threshold // 2 - 6)
        first = plus(second, -threshold // 2 - 2)
        return [Span(third, None), Span(second, plus(third, -1)), Span(first, plus(second, -1))]
    if pattern == "closed":
        end = plus((year - 1, 8), jitter)
        second = plus(end, -threshold // 2 - 8)
        first = plus(second, -threshold // 2 - 10)
        return [Span(second, end), Span(first, plus(second, -1))]
    if pattern == "short":  # clearly under the threshold, and over
        end = plus((year - 1, 3), jitter)
        second = plus(end, -threshold // 4)
        first = plus(second, -threshold // 4)
        return [Span(second, end), Span(first, plus(second, -1))]
    if pattern == "overlap":  # the sum reaches the threshold, the union does not
        first = (year - 8, 1 + jitter)
        length = threshold * 6 // 10
        second = plus(first, threshold // 5)
        return [Span(second, plus(second, length - 1)), Span(first, plus(first, length - 1))]
    if pattern == "gap":  # a year without work, not counted and not judged
        end = plus((year - 2, 5), jitter)
        second = plus(end, -threshold // 2 - 6)
        first_end = plus(second, -13)
        return [Span(second, end), Span(plus(first_end, -threshold // 2 - 5), first_end)]
    if pattern == "years":  # years only, enough on any reading
        years = threshold // 12
        return [
            Span((year - years - 2, None), (year - 1, None)),
            Span((year - 2 * years - 3, None), (year - years - 2, None)),
        ]
    if pattern == "years_unsure":  # years only, the threshold lies between fewest and most
        years = threshold // 12
        start = year - 3 - years
        return [
            Span((start + years - 1, None), (start + years + 1, None)),
            Span((start, None), (start + years - 2, None)),
        ]
    if pattern == "reversed":  # one employment ends before it begins
        spans = plan(rng, "closed", threshold, as_of)
        broken = Span((spans[1].start[0] - 1, 9), (spans[1].start[0] - 3, 4))
        return [*spans, broken]
    raise ValueError(pattern)


def write(rng: random.Random, spans: list[Span], language: str) -> list[str]:
    """The spans as a person writes them, in one style for the whole CV."""
    style = (
        rng.choice(("names", "names", "dots", "iso"))
        if language == "tr"
        else rng.choice(("names", "names", "iso"))
    )
    dash = rng.choice((" – ", " - "))
    still = rng.choice(OPEN_TR if language == "tr" else OPEN_EN)
    short_year = language == "en" and style == "names" and rng.random() < 0.3
    out = []
    for span in spans:
        start = _written(span.start, style, language, short_year)
        end = still if span.end is None else _written(span.end, style, language, short_year)
        out.append(f"{start} {end}" if end == "to date" else f"{start}{dash}{end}")
    return out


def _written(at: tuple[int, int | None], style: str, language: str, short_year: bool) -> str:
    year, month = at
    if month is None:
        return str(year)
    if style == "dots":
        return f"{month:02d}.{year}"
    if style == "iso":
        return f"{year}-{month:02d}"
    name = (MONTHS_TR if language == "tr" else MONTHS_EN)[month - 1]
    return f"{name} '{year % 100:02d}" if short_year else f"{name} {year}"
