"""Amounts with their currency, and a currency that stands alone (`ödemeler EUR cinsinden`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.money import find_amounts
from nekibu.language.turkish import key

_CODES = re.compile(r"(?<![\w.])(?:TRY|TL|USD|EUR|GBP|CHF|JPY|SAR|AED|RUB)(?![\w])")
_SIGNS = {"₺": ("TRY",), "$": ("USD", "AUD", "CAD"), "€": ("EUR",), "£": ("GBP",), "¥": ("JPY", "CNY")}
_NAMES = {
    "TRY": r"turk liras\w{1,6}",
    "USD": r"(?:amerikan |abd |us )(?:dolar\w{0,5}|dollars?)",
    "EUR": r"avro\w{0,4}|euros?",
    "GBP": r"(?:ingiliz )?sterlin\w{0,4}|pounds? sterling",
    "CHF": r"isvicre frang\w{1,4}|swiss francs?",
    "JPY": r"japon yeni\w{0,3}|japanese yen",
}
_NAME = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<{code}>{name})" for code, name in _NAMES.items()) + r")(?!\w)"
)


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """Every amount of a clause; a figure or a sign that stays open has all its readings."""
    for amount in find_amounts(clause, writing):
        yield Found("money", *amount.whole, amount.alternatives or (amount.canonical,))


def find_currencies(clause: str, writing: Writing) -> Iterator[Found]:
    """Every name, code or sign of a currency; those of an amount are taken by the amount."""
    for code in _CODES.finditer(clause):
        yield Found("currency", code.start(), code.end(), ("TRY" if code.group() == "TL" else code.group(),))
    for at, sign in enumerate(clause):
        if sign in _SIGNS:
            yield Found("currency", at, at + 1, _SIGNS[sign])
    folded = key(clause, collapse=False)
    for name in _NAME.finditer(folded.text):
        yield Found("currency", *folded.span(name.start(), name.end()), (str(name.lastgroup),))
