"""A date at its stated precision, and the grammar of single dates in Turkish and English text."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from nekibu.errors import InvalidInput
from nekibu.language.turkish import fold

Precision = Literal["year", "month", "day"]
FIRST_YEAR, LAST_YEAR = 1900, 2100

_MONTH_NAMES = (
    "ocak oca january jan", "subat sub february feb", "mart mar march", "nisan nis april apr",
    "mayis may", "haziran haz june jun", "temmuz tem july jul", "agustos agu august aug",
    "eylul eyl september sept sep", "ekim eki october oct", "kasim kas november nov", "aralik ara december dec",
)  # fmt: skip
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_FULL_NAMES = [name for name in MONTHS if len(name) > 4 or name in {"ocak", "mart", "ekim", "june", "july"}]


class NotADate(InvalidInput):
    """This is not a date: YYYY, YYYY-MM or YYYY-MM-DD is expected."""

    code = "invalid_date"


@dataclass(frozen=True, slots=True, order=True)
class PartialDate:
    """A year, a month or a day, exactly as precise as it was stated; nothing is filled in."""

    year: int
    month: int | None = None
    day: int | None = None

    def __post_init__(self) -> None:
        if not FIRST_YEAR <= self.year <= LAST_YEAR:
            raise ValueError(f"year {self.year}")
        if self.month is None:
            if self.day is not None:
                raise ValueError("a day needs its month")
            return
        if not 1 <= self.month <= 12:
            raise ValueError(f"month {self.month}")
        if self.day is not None and not 1 <= self.day <= calendar.monthrange(self.year, self.month)[1]:
            raise ValueError(f"day {self.day}")

    @property
    def precision(self) -> Precision:
        if self.month is None:
            return "year"
        return "month" if self.day is None else "day"

    @property
    def earliest(self) -> date:
        return date(self.year, self.month or 1, self.day or 1)

    @property
    def latest(self) -> date:
        month = self.month or 12
        return date(self.year, month, self.day or calendar.monthrange(self.year, month)[1])

    def iso(self) -> str:
        """`2014`, `2014-06` or `2014-06-15`: the stated precision and no more."""
        parts = [f"{self.year:04d}"]
        if self.month is not None:
            parts.append(f"{self.month:02d}")
        if self.day is not None:
            parts.append(f"{self.day:02d}")
        return "-".join(parts)


def parse_partial(text: str, *, field: str = "date") -> PartialDate:
    """A `YYYY`, `YYYY-MM` or `YYYY-MM-DD` of an import; anything else, also 30 February, is refused with its field."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", text.strip())
    if match:
        year, month, day = (int(part) if part else None for part in match.groups())
        try:
            return PartialDate(year or 0, month, day)
        except ValueError:
            pass
    raise NotADate(field=field, value=text)


def parse_end(text: str | None, *, field: str = "end_date") -> PartialDate | None:
    """The end of an imported interval; missing or "Present" in any usual wording is an open end, None."""
    if text is None or not text.strip() or OPEN_WORD.fullmatch(fold(text)):
        return None
    return parse_partial(text, field=field)


OPEN_WORD = re.compile(
    r"(?:(?:up )?(?:to|till|til|until) )?(?:the )?(?:present(?: day| time)?|current(?:ly)?|now|today|date)|"
    r"ongoing|continuing|still(?: working| employed)?|halen|hala|hal[ei]n?hazir\w*|"
    r"(?:(?:hala|halen) )?devam(?: ?ed\w+| ?etm\w+)?|"
    r"(?:gunumuz|bugun)(?:e|de)?(?: kadar| dek| degin)?|su ?an(?:a|da|ki|dek)*(?: kadar)?|"
    r"simdi(?:ye|ki|lik)?(?: kadar)?|(?:halen |hala )?(?:calisiyor\w*|calismakta\w*|surmekte\w*|suruyor)|guncel"
)


@dataclass(frozen=True, slots=True)
class Point:
    """One date in folded text; `weak` means that only its partner in a range makes it a date."""

    value: PartialDate | None  # None: written as a date, but there is no such day
    start: int
    end: int
    weak: bool = False
    swapped: PartialDate | None = None  # the other reading of 2/1/2026
    yearless: tuple[int, int | None] | None = None  # month and day of "1 Ocak", whose year stands elsewhere


_YEAR = r"(?:19[4-9]\d|20\d\d)"
_ANY_YEAR = r"(?:19\d\d|20\d\d)"
_NAME = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
_FULL = "(?:" + "|".join(sorted(_FULL_NAMES, key=len, reverse=True)) + ")"
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
_TO_YEAR = r"\.?(?:\ ?ayi)?[ ,./\-]{0,3}"
_POINT = re.compile(
    rf"""
    (?<![\w@])(?:
      (?P<iso_y>{_ANY_YEAR})(?P<iso_s>[-./])(?P<iso_m>\d\d?)(?P=iso_s)(?P<iso_d>\d\d?)(?![\d/]|[.\-]\d)
    | (?P<range_y>{_YEAR})\ ?[-/]\ ?(?P<range_yy>\d\d)(?![\d/]|[.\-]\d)
    | (?P<im_y>{_ANY_YEAR})[-./](?P<im_m>\d\d)(?![\d/]|[.\-,]\d)
    | (?P<num_d>\d\d?)(?P<num_s>[./\-])\ ?(?P<num_m>\d\d?)(?P=num_s)\ ?(?P<num_y>{_ANY_YEAR}|\d\d(?=\D|$))(?![\d/]|[.]\d)
    | (?P<my_m>\d\d?)(?:[.\-]|\ ?/\ ?)(?P<my_y>{_ANY_YEAR})(?![\d/]|[.]\d)
    | (?P<sy_m>0[1-9]|1[0-2])/(?P<sy_y>\d\d)(?![\d/%]|[.,\-]\d)
    | (?P<dmy_d>\d\d?){_ORDINAL}[ \-./]?\ ?(?:of\ )?(?P<dmy_m>{_NAME}){_TO_YEAR}(?P<dmy_y>{_ANY_YEAR})(?!\d)
    | (?P<mdy_m>{_NAME})\.?\ (?P<mdy_d>\d\d?){_ORDINAL},?\ (?P<mdy_y>{_ANY_YEAR})(?!\d)
    | (?P<nm_m>{_NAME}){_TO_YEAR}(?:of\ )?(?P<nm_y>{_ANY_YEAR})(?!\d)
    | (?P<ns_m>{_NAME})\.?[ \-]{{0,2}}'(?P<ns_y>\d\d)(?!\d)
    | (?P<ym_y>{_YEAR})(?:\ yili(?:nin)?)?[ ,/\-]{{1,2}}(?P<ym_m>{_NAME})(?!\w)(?!\.?\ ?(?:{_ANY_YEAR}|'\d\d))
    | (?P<dn_d>\d\d?){_ORDINAL}\ (?:of\ )?(?P<dn_m>{_FULL})(?!\w)
    | (?P<weak_m>{_NAME})\.?[ \-](?P<weak_y>\d\d)(?![\d.:,]|\ ?%)
    | (?P<md_m>{_NAME})(?=\.?\ ?(?:-|\ to\ |\ ile\ )\ ?{_NAME}\W)
    | (?P<y>{_YEAR})(?!\d|[a-z_]|[.,:]\d|/(?!{_YEAR}(?!\d)))
    )
    | (?<![\w'])'(?P<yy>\d\d)(?![\w%])
    """,
    re.VERBOSE,
)
_UNIT_AFTER = re.compile(r"\s?(?:tl|try|usd|eur|gbp|lira|adet|kisi|[₺$€£%]|m2|km|kg)(?!\w)")
_PHONE_BEFORE = re.compile(r"(?:\+\d[\d ()\-]*|\(?0\d{3}\)?[ \d\-]*)[ \-]$")


def points(folded: str, *, day_first: bool | None = True) -> Iterator[Point]:
    """Every date-like place of a text folded without collapsing, in order; places inside numbers are passed over."""
    previous_end = -1
    for match in _POINT.finditer(folded):
        start, end = match.span()
        if _belongs_to_number(folded, start, end, previous_end):
            continue
        for point in _read(match, day_first):
            yield point
            previous_end = point.end


def _belongs_to_number(folded: str, start: int, end: int, previous_end: int) -> bool:
    if not folded[start].isdigit():
        return False
    before = folded[max(0, start - 48) : start]
    run = re.search(r"\S*$", before)
    if run and re.search(r"[a-z][\w.\-]*[/@]", run.group()):
        return True  # an address
    if re.search(r"\d[.,:/]$|[\w\d]/$", before):
        return not (before.endswith("/") and previous_end == start - 1)
    if before.endswith("-") and before[-2:-1].isalnum() and previous_end != start - 1:
        return before[-2:-1].isdigit()
    return bool(_UNIT_AFTER.match(folded, end) or _PHONE_BEFORE.search(before))


def _read(match: re.Match[str], day_first: bool | None) -> Iterator[Point]:
    group = match.groupdict()
    start, end = match.span()

    def number(name: str) -> int:
        return int(group[name])

    if group["range_y"]:
        yield from _short_range(match)
    elif group["iso_y"]:
        yield _point(start, end, number("iso_y"), number("iso_m"), number("iso_d"))
    elif group["im_y"]:
        yield _point(start, end, number("im_y"), number("im_m"))
    elif group["num_d"]:
        yield from _numeric_day(match, day_first)
    elif group["my_m"]:
        if number("my_m") <= 31:  # 45/2019 is a file number
            yield _point(start, end, number("my_y"), number("my_m"))
    elif group["sy_m"]:  # 03/18 is March 2018 beside its partner in a range, else anything
        yield Point(_value(full_year(number("sy_y")), number("sy_m")), start, end, weak=True)
    elif group["dmy_d"]:
        yield _point(start, end, number("dmy_y"), MONTHS[group["dmy_m"]], number("dmy_d"))
    elif group["mdy_d"]:
        yield _point(start, end, number("mdy_y"), MONTHS[group["mdy_m"]], number("mdy_d"))
    elif group["nm_m"]:
        yield _point(start, end, number("nm_y"), MONTHS[group["nm_m"]])
    elif group["ns_m"]:
        yield _point(start, end, full_year(number("ns_y")), MONTHS[group["ns_m"]])
    elif group["ym_y"]:
        yield _point(start, end, number("ym_y"), MONTHS[group["ym_m"]])
    elif group["dn_d"]:
        yield Point(None, start, end, weak=True, yearless=(MONTHS[group["dn_m"]], number("dn_d")))
    elif group["weak_m"]:
        value = _value(full_year(number("weak_y")), MONTHS[group["weak_m"]])
        yield Point(value, start, end, weak=True)
    elif group["md_m"]:
        yield Point(None, start, end, weak=True, yearless=(MONTHS[group["md_m"]], None))
    elif group["y"]:
        yield _point(start, end, number("y"))
    else:
        yield Point(_value(full_year(number("yy"))), start, end, weak=True)


def full_year(short: int) -> int:
    """The year meant by two digits in a working life: '22 is 2022, '87 is 1987."""
    return 2000 + short if short < 50 else 1900 + short


def _short_range(match: re.Match[str]) -> Iterator[Point]:
    """`2018-19` or `2018/19` as two years; `2018-01` stays a month, and `2014-13` is nothing."""
    year, short = int(match["range_y"]), int(match["range_yy"])
    joined = match.end() - match.start() == 7
    if short > 12 and short > year % 100:
        yield Point(PartialDate(year), match.start(), match.start("range_y") + 4)
        yield Point(_value(year // 100 * 100 + short), match.start("range_yy"), match.end())
    elif joined:
        yield _point(match.start(), match.end(), year, short)
    else:
        yield Point(PartialDate(year), match.start(), match.start("range_y") + 4)


def _numeric_day(match: re.Match[str], day_first: bool | None) -> Iterator[Point]:
    first, second, written = int(match["num_d"]), int(match["num_m"]), match["num_y"]
    short = len(written) == 2
    if short and (match["num_s"] == "-" or match.end() - match.start() != 8):
        return  # 1.2.15 is a version or a clause, not a day
    year = full_year(int(written)) if short else int(written)
    day, month = (second, first) if day_first is False else (first, second)
    value, swapped = _value(year, month, day), _value(year, day, month)
    if value is None and match["num_s"] == "/":
        value, swapped = swapped, None  # 03/15/2019 can be read in one way only
    other = swapped if day_first is None and swapped != value else None
    if short and value is None:
        return
    yield Point(value, match.start(), match.end(), weak=short, swapped=other)


def _point(start: int, end: int, year: int, month: int | None = None, day: int | None = None) -> Point:
    return Point(_value(year, month, day), start, end)


def _value(year: int, month: int | None = None, day: int | None = None) -> PartialDate | None:
    try:
        return PartialDate(year, month, day)
    except ValueError:
        return None
