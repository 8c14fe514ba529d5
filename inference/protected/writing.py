"""A protected value written out for a reader: what is written here is read back as the same value."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_decimal

from inference.protected.durations import WORKING
from inference.protected.quantities import UNITS
from nekibu.language.numbers import Locale

_TIMES = {"Y": ("yıl", "years"), "M": ("ay", "months"), "D": ("gün", "days"), "H": ("saat", "hours")}
_SIDES = {
    ">=": ("en az {}", "at least {}"),
    "<=": ("en fazla {}", "at most {}"),
    ">": ("{}'den fazla", "more than {}"),
    "<": ("{}'den az", "less than {}"),
}


def write(kind: str, canonical: str, locale: Locale) -> str:
    """`parse(write(x)) == x`: exact, never rounded. Clauses and identifiers are written as they are."""
    if kind == "threshold":
        side, value = canonical.split(" ", 1)
        return _SIDES[side][locale == "en"].format(write(_kind_of(value), value, locale))
    if kind == "money":
        figure, code = canonical.split()
        return f"{_figure(figure, locale)} {code}"
    if kind == "rate":
        figure = _figure(canonical.split()[0], locale)
        return f"%{figure}" if locale == "tr" else f"{figure}%"
    if kind == "date":
        return _date(canonical, locale)
    if kind == "duration":
        return _duration(canonical, locale)
    if kind == "quantity":
        figure, _, unit = canonical.partition(" ")
        return f"{_figure(figure, locale)} {UNITS[unit][locale == 'en']}" if unit else _figure(figure, locale)
    return canonical


def _kind_of(value: str) -> str:
    if value.endswith(" %"):
        return "rate"
    if value.startswith("P"):
        return "duration"
    if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", value):
        return "date"
    return "money" if re.search(r" [A-Z]{3}$", value) else "quantity"


def _figure(figure: str, locale: Locale) -> str:
    value = Decimal(figure)
    places = max(0, -int(value.as_tuple().exponent))
    return str(format_decimal(value, format="#,##0." + "0" * places if places else "#,##0", locale=locale))


def _date(canonical: str, locale: Locale) -> str:
    parts = [int(part) for part in canonical.split("-")]
    whole = date(*[*parts, 1, 1][:3])
    return str(format_date(whole, ("y", "MMMM y", "d MMMM y")[len(parts) - 1], locale=locale))


def _duration(canonical: str, locale: Locale) -> str:
    working = canonical.endswith(WORKING)
    words = []
    for figure, unit in re.findall(r"(\d+(?:\.\d+)?)([YMDH])", canonical):
        name = _TIMES[unit][locale == "en"]
        if working and unit == "D":
            name = "iş günü" if locale == "tr" else "business days"
        words.append(f"{figure.replace('.', ',') if locale == 'tr' else figure} {name}")
    return " ".join(words)
