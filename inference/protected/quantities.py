"""Numbers, alone or with their unit of measure: `25 m²`, `½ inç`, `1.250 adet`, `3`."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from inference.protected.found import Found, Writing
from nekibu.language.numbers import find_numbers, number_key
from nekibu.language.turkish import Key, key

# code: (Turkish, English, pattern over folded letters). A count of people has no unit: persons are no goods.
UNITS = {
    "m2": ("m²", "m²", r"m2|metrekare|sq\.? ?m|square met(?:re|er)s?"),
    "m3": ("m³", "m³", r"m3|metrekup|cubic met(?:re|er)s?"),
    "km": ("km", "km", r"km|kilomet(?:re|er)s?"),
    "cm": ("cm", "cm", r"cm|santimetre"),
    "mm": ("mm", "mm", r"mm|milimetre"),
    "in": ("inç", "inches", r"inc|inch(?:es)?"),
    "kg": ("kg", "kg", r"kg|kilogram(?:s)?"),
    "t": ("ton", "tonnes", r"ton(?:nes?|s)?"),
    "l": ("litre", "litres", r"litre|lit(?:re|er)s?|lt"),
    "kWh": ("kWh", "kWh", r"kwh"),
    "MWh": ("MWh", "MWh", r"mwh"),
    "kW": ("kW", "kW", r"kw"),
    "MW": ("MW", "MW", r"mw"),
    "GB": ("GB", "GB", r"gb"),
    "TB": ("TB", "TB", r"tb"),
    "pcs": ("adet", "pieces", r"adet|pieces|pcs\.?"),
    "box": ("koli", "boxes", r"koli|boxes"),
}
_UNIT = re.compile(
    r"[ ]?(?:" + "|".join(f"(?P<{code}>{words})" for code, (_tr, _en, words) in UNITS.items()) + r")(?!\w)"
)
_FRACTION = re.compile(r"(?<![\w.,])(\d{1,4} ?)?([¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])(?!\w)")


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """Every number of a clause; where the writing is open, `2.750` keeps both readings."""
    folded = key(clause, collapse=False)
    for match in _FRACTION.finditer(clause):
        part = Fraction(unicodedata.numeric(match[2])).limit_denominator(10)
        yield _with_unit(folded, *match.span(), (_exact(int(match[1] or 0) + part),))
    for number in find_numbers(clause, writing):
        yield _with_unit(folded, number.start, number.end, number.alternatives or (number.canonical,))


def _exact(value: Fraction) -> str:
    """`1/3` has no end in decimals and stays a fraction."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return number_key(decimal) if Fraction(decimal) == value else str(value)


def _with_unit(folded: Key, start: int, end: int, readings: tuple[str, ...]) -> Found:
    unit = _UNIT.match(folded.text, bisect_left(folded.starts, end))
    if unit is None:
        return Found("quantity", start, end, readings)
    place = folded.span(unit.start(), unit.end())
    return Found("quantity", start, place[1], tuple(f"{reading} {unit.lastgroup}" for reading in readings))
