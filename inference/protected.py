"""Stage 3: amounts, dates, rates, durations, thresholds and identifiers, found by grammar and never paraphrased."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from inference.types import Evidence, ProtectedField
from nekibu.language.dates import find_dates
from nekibu.language.identifiers import find_identifiers
from nekibu.language.money import find_amounts
from nekibu.language.numbers import find_numbers
from nekibu.language.periods import find_periods
from nekibu.language.rates import find_rates

_NUMBER_WORDS = (
    r"iki|[uü]ç|uc|d[oö]rt|be[sş]|alt[ıi]|yedi|sekiz|dokuz|yirmi|otuz|k[ıi]rk|elli|altm[ıi][sş]|yetmi[sş]|seksen|doksan|"
    r"y[uü]z|bin|milyon|milyar|yar[ıi]m|bu[cç]uk|bir|on|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|eighteen|twenty|thirty"
)
_MAY_HOLD = re.compile(rf"\d|@|[(\[]at[)\]]|www\.|://|\.com/|(?<!\w)(?:{_NUMBER_WORDS})", re.IGNORECASE)
_LIMIT_BEFORE = re.compile(
    r"\b(?:en az|en çok|en fazla|azami|asgari|at least|at most|not exceeding|minimum|maximum)\s+$",
    re.IGNORECASE,
)
_LIMITED = {"rate", "money", "duration", "quantity"}
_Found = tuple[str, int, int, tuple[str, ...]]


def extract(evidence: Iterable[Evidence]) -> tuple[ProtectedField, ...]:
    """All protected fields of the pieces, in order. Invariant: `piece.text[f.start:f.end] == f.raw`."""
    return tuple(found for piece in evidence for found in scan(piece.text, piece.id))


def scan(text: str, evidence_id: str = "") -> tuple[ProtectedField, ...]:
    """The protected fields of one text, none overlapping: what is more special stands before the bare number in it."""
    if not _MAY_HOLD.search(text):
        return ()
    level, places = _levelled(text)
    kept: list[_Found] = []
    taken = bytearray(len(level))
    for kind, start, end, readings in _found(level):
        if any(taken[start:end]):
            continue
        taken[start:end] = b"\x01" * (end - start)
        limit = _LIMIT_BEFORE.search(level, max(0, start - 20), start) if kind in _LIMITED else None
        kept.append(("threshold", limit.start(), end, readings) if limit else (kind, start, end, readings))
    fields = []
    for kind, start, end, readings in sorted(kept, key=lambda one: one[1]):
        first, last = places[start], places[end - 1] + 1
        fields.append(ProtectedField(kind, text[first:last], " | ".join(readings), evidence_id, first, last))
    return tuple(fields)


def multiset(fields: Iterable[ProtectedField]) -> Counter[tuple[str, str]]:
    """Fields as a multiset of (kind, exact characters)."""
    return Counter((f.kind, f.raw) for f in fields)


def numbers(fields: Iterable[ProtectedField]) -> frozenset[str]:
    """The figures in the fields, in canonical form and in every reading: what an answer may repeat."""
    return frozenset(
        figure
        for field in fields
        for reading in field.canonical.split(" | ")
        for figure in _figures(field.kind, reading)
    )


def _levelled(text: str) -> tuple[str, list[int]]:
    """The text with one blank for every run of white space, and where each character stood.

    So idle blanks decide nothing: what is found before they are taken out is found after it.
    """
    places = [at for at, char in enumerate(text) if not char.isspace() or not text[at - 1 : at].isspace()]
    return "".join(" " if text[at].isspace() else text[at] for at in places), places


def _found(text: str) -> Iterator[_Found]:
    """Every find, the special kinds first."""
    for identifier in find_identifiers(text):
        kind = "source_uri" if identifier.kind == "url" else "identifier"
        yield kind, identifier.start, identifier.end, (identifier.canonical,)
    for date in find_dates(text):
        yield "date", date.start, date.end, date.alternatives or (date.canonical,)
    for rate in find_rates(text):
        yield "rate", rate.start, rate.end, rate.alternatives or (rate.canonical,)
    for amount in find_amounts(text):
        yield "money", *amount.whole, amount.alternatives or (amount.canonical,)
    for period in find_periods(text):
        yield "duration", period.start, period.end, (period.canonical,)
    for number in find_numbers(text):
        yield "quantity", number.start, number.end, number.alternatives or (number.canonical,)


def _figures(kind: str, reading: str) -> Iterator[str]:
    """`2019-03` is 2019 and 3, `P12M45D` 12 and 45, `1250 TRY` 1250; an address is itself."""
    if kind in ("source_uri", "identifier"):
        yield reading
    elif kind == "date":
        yield from (str(int(part)) for part in reading.split("-"))
    else:
        yield from re.findall(r"\d+(?:\.\d+)?", reading)
