"""Amounts of money with their currency, in figures and in words, and how they are shown."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from babel.numbers import format_currency

from nekibu.language.numbers import Asked, FoundNumber, Locale, number_key, quantities, settled
from nekibu.language.turkish import Key, key


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """An amount. `start` and `end` hold the figure alone, `whole` the figure with its currency."""

    start: int
    end: int
    raw: str
    canonical: str
    amount: Decimal | None
    currency: str
    whole: tuple[int, int]
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class AmountCheck:
    """An amount in figures beside the same amount in words: confirmed, or a conflict for a person."""

    figures: FoundAmount
    words: FoundAmount
    state: Literal["confirmed", "conflict"]


_CURRENCIES = {
    "TRY": r"₺|tl|try|turk lira\w*|lira\w{0,3}",
    "USD": r"usd|us\$|\$|(?:amerikan |abd |us )?(?:dolar\w{0,3}|dollars?)",
    "EUR": r"eur|€|euros?|avro\w{0,2}",
    "GBP": r"gbp|£|(?:ingiliz )?sterlin\w{0,2}|pounds?(?: sterling)?",
    "CHF": r"chf|isvicre frangi",
    "JPY": r"jpy|¥|japon yeni",
    "SAR": r"sar|riyal",
    "AED": r"aed|dirhem",
    "RUB": r"rub|ruble",
}
_OPEN_SIGNS = {"$": ("USD", "AUD", "CAD"), "¥": ("JPY", "CNY")}
_ANY = "|".join(f"(?P<{code}>{pattern})" for code, pattern in _CURRENCIES.items())
_CURRENCY_AFTER = re.compile(rf"[ ]?(?:{_ANY})(?!\w)")
_CURRENCY_BEFORE = re.compile(rf"(?<!\w)(?:{_ANY})[ ]?$")
_SIGN_BEFORE = re.compile(r"[₺$€£¥][ ]?$")
_KURUS = re.compile(r"[ ]?(?:kurus\w{0,2}|krs\.?|kr\.|cents?)(?!\w)")
_REACH = 40  # the longest name of a currency
_RANGE = re.compile(r"[ ]?(?:-|ile|ila|to)[ ]?")
_BESIDE = re.compile(r"[\s(:/,]*(?:yalniz\w*|yaziyla|#)?[\s:#]*")


def find_amounts(text: str, locale: Asked | None = None) -> list[FoundAmount]:
    """Every number with a currency beside it, in order.

    Without a locale the document decides; a figure or a sign that stays open (`3.350 USD`, `$`) is ambiguous
    with all its readings and never guessed.
    """
    decided = settled(text, locale)
    folded = key(text, collapse=False)
    numbers = [(one, _inside(folded, one)) for one in quantities(text, decided)]
    found: list[FoundAmount] = []
    used = 0
    for at, (number, (start, end)) in enumerate(numbers):
        if start < used:
            continue
        after = _CURRENCY_AFTER.match(folded.text, end)
        before = _CURRENCY_BEFORE.search(folded.text, max(used, start - _REACH), start)
        sign = before if before and _SIGN_BEFORE.search(before.group()) else None
        if sign:
            chosen, whole = (
                sign,
                (sign.start(), after.end() if after and after.lastgroup == sign.lastgroup else end),
            )
        elif after:
            chosen, whole = after, (start, after.end())
        elif before:
            chosen, whole = before, (before.start(), end)
        else:
            low = _low_end(folded, numbers, at)
            if low is None:
                continue
            chosen, whole = low, (start, end)
        value, whole_end = number, whole[1]
        small = numbers[at + 1] if at + 1 < len(numbers) else None
        cents = None
        if (
            small
            and after
            and not folded.text[after.end() : small[1][0]].strip()
            and (unit := _KURUS.match(folded.text, small[1][1]))
        ):
            cents, whole_end = small[0].value, unit.end()
        found.append(
            _amount(
                folded, value, str(chosen.lastgroup), chosen.group().strip(), (whole[0], whole_end), cents
            )
        )
        used = whole_end
    return found


def check_amounts_in_words(text: str, locale: Asked | None = None) -> list[AmountCheck]:
    """Amounts written twice, `12.500,00 TL (on iki bin beş yüz TL)`: whether figures and words agree."""
    found = find_amounts(text, locale)
    checks: list[AmountCheck] = []
    for first, second in pairwise(found):
        if first.in_words == second.in_words or not _BESIDE.fullmatch(
            key(text[first.whole[1] : second.whole[0]]).text
        ):
            continue
        figures, words = (second, first) if first.in_words else (first, second)
        readings = {figures.canonical, *figures.alternatives}
        agree = words.canonical in readings
        checks.append(AmountCheck(figures, words, "confirmed" if agree else "conflict"))
    return checks


def format_money(amount: Decimal, currency: str, language: Locale = "tr") -> str:
    """An amount as the interface shows it: `₺1.234.567,89` in Turkish."""
    return format_currency(amount, currency, locale="tr_TR" if language == "tr" else "en_US")


def _inside(folded: Key, number: FoundNumber) -> tuple[int, int]:
    """Where a found number stands in the folded text."""
    return bisect_left(folded.starts, number.start), bisect_left(folded.starts, number.end)


def _low_end(
    folded: Key, numbers: list[tuple[FoundNumber, tuple[int, int]]], at: int
) -> re.Match[str] | None:
    """The currency of the upper end for the lower one: `1.000 - 2.000 TL`."""
    if at + 1 >= len(numbers):
        return None
    _, (start, end) = numbers[at + 1]
    if not _RANGE.fullmatch(folded.text[numbers[at][1][1] : start]):
        return None
    return _CURRENCY_AFTER.match(folded.text, end)


def _amount(
    folded: Key, number: FoundNumber, code: str, sign: str, whole: tuple[int, int], cents: Decimal | None
) -> FoundAmount:
    codes = _OPEN_SIGNS.get(sign, (code,))
    values = number.alternatives or (number.canonical,)
    if cents is not None:
        values = tuple(number_key(Decimal(value) + cents / 100) for value in values)
    readings = tuple(f"{value} {currency}" for value in values for currency in codes)
    open_figure = len(values) > 1
    amount = None if open_figure else Decimal(values[0])
    return FoundAmount(
        number.start, number.end, number.raw, readings[0], amount, codes[0], folded.span(*whole),
        len(readings) > 1, readings if len(readings) > 1 else (), number.in_words,
    )  # fmt: skip
