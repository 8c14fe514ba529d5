"""Periods such as `12 ay ve 45 gün`: lengths of time, never calendar dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from nekibu.language.numbers import number_key, parse_words
from nekibu.language.turkish import key

_UNITS = {
    "Y": r"yil\w{0,5}|sene\w{0,4}|years?|yrs?\.?",
    "M": r"ay(?:lik|i|da|dan|a|in)?|months?|mos?\.",
    "W": r"hafta\w{0,4}|weeks?",
    "D": r"(?:is )?gun\w{0,5}|(?:business )?days?",
    "H": r"saat\w{0,4}|hours?",
}
_NUMBER_WORD = r"(?:sifir|bir|iki|uc|dort|bes|alti|yedi|sekiz|dokuz|on|yirmi|otuz|kirk|elli|altmis|yetmis|seksen|doksan|yuz|bin|bucuk|yarim)"
_ENGLISH = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "eighteen": 18, "twenty": 20, "thirty": 30,
}  # fmt: skip
_NUMBER = rf"(?P<number>\d{{1,4}}(?:[.,]\d{{1,2}})?|{_NUMBER_WORD}(?:[ ]?{_NUMBER_WORD}){{0,9}}|{'|'.join(_ENGLISH)})"
_PART = re.compile(
    rf"(?<![\w.,'%/]){_NUMBER}(?:\+|[ ]?\((?P<again>[^)\n]{{1,20}})\))?[ \-]?(?:"
    + "|".join(f"(?P<{unit}>{words})" for unit, words in _UNITS.items())
    + r")(?!\w)"
)
_JOIN = re.compile(r"[ ]?(?:,|ve|and|arti)?[ ]?")


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time; `canonical` is an ISO 8601 duration. Working days are marked, for a calendar to count."""

    start: int
    end: int
    raw: str
    canonical: str
    years: Decimal = Decimal(0)
    months: Decimal = Decimal(0)
    days: Decimal = Decimal(0)
    hours: Decimal = Decimal(0)
    working_days: bool = False
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()


def find_periods(text: str) -> list[Period]:
    """Every period in order; parts joined by "ve", "and" or a comma are one period if their units descend."""
    folded = key(text, collapse=False)
    groups: list[list[re.Match[str]]] = []
    for match in _PART.finditer(folded.text):
        if _amount(match["number"]) is None or (
            match["Y"] and re.fullmatch(r"(?:19|20)\d\d", match["number"])
        ):
            continue  # "2019 yılında" is a year
        last = groups[-1][-1] if groups else None
        joined = last and _JOIN.fullmatch(folded.text[last.end() : match.start()])
        if last and joined and "YMWDH".index(_unit(match)) > "YMWDH".index(_unit(last)):
            groups[-1].append(match)
        else:
            groups.append([match])
    return [_period(text, folded.span(group[0].start(), group[-1].end()), group) for group in groups]


def _period(text: str, span: tuple[int, int], parts: list[re.Match[str]]) -> Period:
    amounts: dict[str, Decimal] = {}
    for part in parts:
        amounts[_unit(part)] = _amount(part["number"]) or Decimal(0)
    days = amounts.get("D", Decimal(0)) + 7 * amounts.get("W", Decimal(0))
    date_part = "".join(
        f"{number_key(amount)}{unit}"
        for unit, amount in (
            ("Y", amounts.get("Y")),
            ("M", amounts.get("M")),
            ("D", days if {"D", "W"} & amounts.keys() else None),
        )
        if amount is not None
    )
    hours = amounts.get("H")
    canonical = "P" + date_part + (f"T{number_key(hours)}H" if hours is not None else "")
    working = any(re.match(r"is |business ", part["D"]) for part in parts if part["D"])
    return Period(
        *span, text[slice(*span)], canonical, amounts.get("Y", Decimal(0)), amounts.get("M", Decimal(0)), days,
        hours or Decimal(0), working,
    )  # fmt: skip


def _unit(match: re.Match[str]) -> str:
    return next(unit for unit in _UNITS if match[unit])


def _amount(number: str) -> Decimal | None:
    if number[0].isdigit():
        return Decimal(number.replace(",", "."))
    return Decimal(_ENGLISH[number]) if number in _ENGLISH else parse_words(number)
