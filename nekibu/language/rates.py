"""Percentages and per mille, whichever side the sign stands on."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal

from nekibu.language.numbers import Asked, Locale, number_key, quantities, settled
from nekibu.language.turkish import key

_BEFORE = re.compile(r"(?:(?P<percent>%|(?<!\w)yuzde)|(?P<mille>‰|(?<!\w)binde))[ ]{0,2}$")
_AFTER = re.compile(r"[ ]?(?:(?P<percent>%|(?:percent|per cent|pct)(?!\w))|(?P<mille>‰|per mille(?!\w)))")
_REACH = 10  # the longest sign with its blanks


@dataclass(frozen=True, slots=True)
class FoundRate:
    """A rate in percent; the place holds the figure with its sign or word."""

    start: int
    end: int
    raw: str
    canonical: str
    percent: Decimal | None
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()


def find_rates(text: str, locale: Asked | None = None) -> list[FoundRate]:
    """Every rate in order: `%20`, `% 20`, `yüzde 20`, `20%` are 20 %, `binde 2` is 0.2 %."""
    decided = settled(text, locale)
    folded = key(text, collapse=False)
    found: list[FoundRate] = []
    used = 0
    for number in quantities(text, decided):
        start, end = bisect_left(folded.starts, number.start), bisect_left(folded.starts, number.end)
        before = _BEFORE.search(folded.text, max(used, start - _REACH), start)
        after = _AFTER.match(folded.text, end)
        sign = before or after
        if not sign or start < used:
            continue
        span = (before.start(), end) if before else (start, after.end() if after else end)
        per = Decimal(10) if sign["mille"] else Decimal(1)
        values = [Decimal(value) / per for value in (number.alternatives or (number.canonical,))]
        readings = tuple(f"{number_key(value)} %" for value in values)
        place = folded.span(*span)
        found.append(
            FoundRate(
                *place,
                text[slice(*place)],
                readings[0],
                values[0] if len(values) == 1 else None,
                len(values) > 1,
                readings if len(values) > 1 else (),
            )
        )
        used = span[1]
    return found


def format_rate(percent: Decimal, language: Locale = "tr") -> str:
    """A rate as the interface shows it: `%20` in Turkish, `20%` in English."""
    figure = number_key(percent)
    return f"%{figure.replace('.', ',')}" if language == "tr" else f"{figure}%"
