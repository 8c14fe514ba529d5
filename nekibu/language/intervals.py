"""Employment and study intervals in a CV, months as the union of intervals, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from nekibu.language.partial_dates import OPEN_WORD, PartialDate, Point, points
from nekibu.language.turkish import key

Verdict = Literal["met", "not_met", "uncertain"]
FindingCode = Literal["end_before_start", "starts_in_future", "ends_in_future"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time with its place in the text; `end` None means that it goes on."""

    start: PartialDate
    end: PartialDate | None
    start_offset: int
    end_offset: int

    @property
    def open(self) -> bool:
        return self.end is None


@dataclass(frozen=True, slots=True)
class Months:
    """A number of months; years stated without months leave a range."""

    min: int
    max: int

    def compare(self, required: int) -> Verdict:
        """Whether a threshold is reached; a threshold inside the range is for a person."""
        if self.min >= required:
            return "met"
        return "not_met" if self.max < required else "uncertain"


@dataclass(frozen=True, slots=True)
class IntervalFinding:
    """An interval that cannot be as it is written."""

    code: FindingCode
    interval: Interval


_CLOSE = r"[)\]]?"
_CONNECT = re.compile(
    rf"{_CLOSE}[ \t]*(?:yil\w*|arasi)?[ \t]*(?:-{{1,2}}|~|->|=>|>|→|\.\.\.?)\s*[(\[]?\s*"
    rf"|{_CLOSE}\s+(?:up to|to|until|till|til|through|thru|ile|ila)\s+(?:the\s+end\s+of\s+)?"
    r"|(?:\s+yilin?|\s+ayin?)?'?(?:d|t)[ae]n\s+(?:-\s*)?"
    r"|[\s|;,]+(?:end(?: date)?|bitis(?: tarihi)?|ayrilis(?: tarihi)?|cikis(?: tarihi)?|to|until)\s*:\s*"
)
_DASH_ALONE = re.compile(r"[ \t]*\n[ \t]*-{1,2}[ \t]*\n[ \t]*")
_COLUMNS = re.compile(r"[ \t]*[\t|][ \t|]*| / ")
_AND = re.compile(r"\s+(?:ve|and|&)\s+")
_BETWEEN_BEFORE = re.compile(r"\bbetween\s+$")
_BETWEEN_AFTER = re.compile(r"\s*(?:yillari\s+)?aras[i]\w*")
_OPEN_MARK = r"(?:-{1,2}|~|->|=>|>|→|\.\.\.?|,|;|:|\||/|\b(?:to|until|till|til|and|ile|ve)\b)"
_OPEN_AFTER = re.compile(
    rf"{_CLOSE}\s*(?P<mark>{_OPEN_MARK})?\s*(?P<paren>[(\[])?\s*(?P<word>{OPEN_WORD.pattern})(?![\w])(?P<close>[)\]])?"
)
_NEEDS_MARK = re.compile(r"(?:now|today|date|current|simdi|bugun|guncel|still|ongoing)$")
_SINCE_AFTER = re.compile(
    r"(?:\s+(?:yil|ay)\w*?)?'?(?:d|t)[ae]n\s+"
    r"(?:bu\s+yana|beri(?:dir)?|itibaren|gunumuze|bugune|halen|simdiye|su ?ana)(?:\s+(?:kadar|dek|degin|halen))?"
    r"|\s+(?:onwards?|and\s+onwards?)\b"
)
_SINCE_BEFORE = re.compile(r"\b(?:ever\s+)?since\s+(?:the\s+)?(?:year\s+)?(?:early\s+|late\s+|mid\s+)?$")
_OPEN_DASH = re.compile(r"[ \t]?-{1,2}[ \t]*(?:\.\.\.|(?=$|\n|[)\]|;,]))")


def intervals(text: str) -> list[Interval]:
    """Every interval of a text in order, at the stated precision; single dates, amounts and phones are none.

    An interval with a day that does not exist (`30.02.2016 - …`) is not guessed: see `find_invalid_dates`.
    """
    folded = key(text, collapse=False)
    found = list(points(folded.text))
    made: list[Interval] = []
    at = 0
    while at < len(found):
        first = found[at]
        second = found[at + 1] if at + 1 < len(found) else None
        pair = _pair(folded.text, first, second) or _columns(folded.text, found, at) if second else None
        if pair and second:
            end_at = second.end
            between = _BETWEEN_AFTER.match(folded.text, end_at)
            made.append(Interval(*pair, *folded.span(first.start, between.end() if between else end_at)))
            at += 2
            continue
        stretch = _open(folded.text, first, second)
        if stretch and first.value:
            made.append(Interval(first.value, None, *folded.span(*stretch)))
        at += 1
    return made


def months_union(stretches: Iterable[Interval], as_of: date | PartialDate) -> Months:
    """Months covered by at least one interval, both ends included, none counted twice and none after `as_of`.

    A year without a month may mean its first or its last one: `min` and `max` are the two extremes. Intervals
    that end before they start cover nothing.
    """
    last = as_of.year * 12 + (as_of.month or 12) - 1
    surely: set[int] = set()
    possibly: set[int] = set()
    somewhere: list[range] = []  # a stay inside one year: at least one month of it, nobody knows which
    for stretch in stretches:
        earliest, latest_start = _month_range(stretch.start)
        earliest_end, latest_end = _month_range(stretch.end) if stretch.end else (last, last)
        if latest_end < earliest:
            continue
        possibly.update(range(earliest, min(latest_end, last) + 1))
        if latest_start <= earliest_end:
            surely.update(range(latest_start, min(earliest_end, last) + 1))
        elif earliest <= last:
            somewhere.append(range(max(earliest, earliest_end), min(latest_start, latest_end, last) + 1))
    extra = 0
    for stay in sorted((stay for stay in somewhere if len(stay)), key=lambda stay: stay[-1]):
        if surely.isdisjoint(stay):
            surely.add(stay[-1])
            extra += 1
    return Months(min(len(surely), len(possibly)), len(possibly))


def contradictions(stretches: Sequence[Interval], as_of: date | PartialDate) -> list[IntervalFinding]:
    """Intervals that end before they start or reach beyond `as_of`, each with the reason a person should see."""
    today = as_of.latest if isinstance(as_of, PartialDate) else as_of
    found: list[IntervalFinding] = []
    for stretch in stretches:
        if stretch.end and stretch.end.latest < stretch.start.earliest:
            found.append(IntervalFinding("end_before_start", stretch))
        elif stretch.start.earliest > today:
            found.append(IntervalFinding("starts_in_future", stretch))
        elif stretch.end and stretch.end.earliest > today:
            found.append(IntervalFinding("ends_in_future", stretch))
    return found


def _month_range(value: PartialDate) -> tuple[int, int]:
    """First and last month that the date can mean, as running numbers."""
    if value.month is None:
        return value.year * 12, value.year * 12 + 11
    return value.year * 12 + value.month - 1, value.year * 12 + value.month - 1


def _pair(folded: str, first: Point, second: Point) -> tuple[PartialDate, PartialDate] | None:
    between = folded[first.end : second.start]
    if (between.count("\n") > 1 and not _DASH_ALONE.fullmatch(between)) or len(between) > 40:
        return None
    connected = _CONNECT.fullmatch(between) or _DASH_ALONE.fullmatch(between)
    if not (connected or _is_year_slash(first, second, between)):
        if not _AND.fullmatch(between):
            return None
        if not (_BETWEEN_BEFORE.search(folded[: first.start]) or _BETWEEN_AFTER.match(folded, second.end)):
            return None
    start, end = first.value, second.value
    if first.yearless and end and end.month:  # Ocak - Mart 2020
        month, day = first.yearless
        try:
            start = PartialDate(end.year, month, day)
        except ValueError:
            return None
    if start is None or end is None or (first.weak and first.value and not second.weak):
        return None
    return start, end


def _columns(folded: str, found: Sequence[Point], at: int) -> tuple[PartialDate, PartialDate] | None:
    """Start and end in two cells of a row, `01.2018 | 03.2021`, if they are the only dates of their line."""
    first, second = found[at], found[at + 1]
    start, end = first.value, second.value
    if start is None or end is None or first.weak or second.weak or start.precision != end.precision:
        return None
    if not _COLUMNS.fullmatch(folded[first.end : second.start]) or end.earliest < start.earliest:
        return None
    before, after = folded.rfind("\n", 0, first.start), folded.find("\n", second.end)
    alone = (at == 0 or found[at - 1].end <= before) and (
        at + 2 == len(found) or 0 <= after <= found[at + 2].start
    )
    return (start, end) if alone else None


def _is_year_slash(first: Point, second: Point, between: str) -> bool:
    return (
        between == "/"
        and bool(first.value and second.value)
        and (first.value or PartialDate(1900)).precision == "year"
        and (second.value or PartialDate(1900)).precision == "year"
    )


def _open(folded: str, point: Point, following: Point | None) -> tuple[int, int] | None:
    """The place of an interval that starts at the point and goes on, if the words around it say so."""
    since = _SINCE_AFTER.match(folded, point.end)
    if since:
        return point.start, since.end()
    said = _OPEN_AFTER.match(folded, point.end)
    if said and (said["mark"] or said["paren"] or not _NEEDS_MARK.match(said["word"])):
        return point.start, said.end() if said["paren"] else said.end("word")
    if point.weak:
        return None
    before = _SINCE_BEFORE.search(folded[max(0, point.start - 40) : point.start])
    if before:
        return point.start - (len(before.group())), point.end
    dash = _OPEN_DASH.match(folded, point.end)
    if dash and not (following and following.start - dash.end() <= 2):
        return point.start, point.end + len(dash.group().rstrip())
    return None
