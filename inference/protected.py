"""Stage 3: amounts, dates, rates, durations, thresholds and identifiers, found by grammar and never paraphrased."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from inference.types import Evidence, ProtectedField

_NUMBER = r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_CURRENCY = r"₺|\$|€|£|TL|TRY|USD|EUR|GBP|lira(?:sı)?|dolar|avro|euro|dollars?"
_MONTH = (
    r"ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_UNIT = r"yıl|sene|ay|hafta|gün|saat|dakika|years?|months?|weeks?|days?|hours?|minutes?"
_LIMIT = r"en az|en çok|en fazla|azami|asgari|at least|at most|not exceeding|minimum|maximum"

# The first alternative that matches at a place wins, so the order is from the special to the general.
_GRAMMAR = re.compile(
    "|".join(
        (
            r"(?P<source_uri>https?://[^\s<>\"')\]]+)",
            r"(?P<identifier>[\w.+-]+@[\w-]+(?:\.[\w-]+)+|TR\d{2}(?: ?\d{4}){5} ?\d{2}|\+\d{1,3}(?:[ ()-]{0,2}\d){8,12})",
            r"(?P<date>\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b|\b\d{1,2}[./]\d{4}\b"
            rf"|\b(?:\d{{1,2}}\.?\s+)?(?:{_MONTH})\.?,?\s+\d{{4}}\b)",
            rf"(?P<rate>(?:%|‰|yüzde|binde)\s?(?:{_NUMBER})|(?:{_NUMBER})\s?(?:%|‰|percent\b))",
            rf"(?P<money>(?:{_CURRENCY})\s?(?:{_NUMBER})|(?:{_NUMBER})\s?(?:{_CURRENCY})(?!\w))",
            rf"(?P<threshold>\b(?:{_LIMIT})\s+(?:{_NUMBER})(?:\s+(?:{_UNIT})\w*)?)",
            rf"(?P<duration>\b(?:{_NUMBER})\+?\s?(?:{_UNIT})(?!\w))",
            rf"(?P<quantity>(?<![\w.])(?:{_NUMBER})(?!\w))",
        )
    ),
    re.IGNORECASE,
)


def extract(evidence: Iterable[Evidence]) -> tuple[ProtectedField, ...]:
    """All protected fields of the pieces, in order. Invariant: `piece.text[f.start:f.end] == f.raw`."""
    return tuple(found for piece in evidence for found in scan(piece.text, piece.id))


def scan(text: str, evidence_id: str = "") -> tuple[ProtectedField, ...]:
    """The protected fields of one text."""
    fields = []
    for match in _GRAMMAR.finditer(text):
        kind, raw = str(match.lastgroup), match.group()
        fields.append(
            ProtectedField(kind, raw, _canonical(kind, raw), evidence_id, match.start(), match.end())
        )
    return tuple(fields)


def multiset(fields: Iterable[ProtectedField]) -> Counter[tuple[str, str]]:
    """Fields as a multiset of (kind, exact characters)."""
    return Counter((f.kind, f.raw) for f in fields)


def numbers(fields: Iterable[ProtectedField]) -> frozenset[str]:
    """The figures in the fields, in canonical form: what an answer may repeat."""
    return frozenset(
        canonical for f in fields for number in re.findall(_NUMBER, f.raw) for canonical in _readings(number)
    )


def _canonical(kind: str, raw: str) -> str:
    if kind in {"source_uri", "identifier", "date"}:
        return " ".join(raw.lower().split())
    found = re.search(_NUMBER, raw)
    return sorted(_readings(found.group()))[0] if found else raw


def _readings(number: str) -> set[str]:
    """Every value that the figure can mean: `1.234` is both 1234 and 1.234."""
    bare = re.sub("['’\u00a0\u202f]", "", number)
    if "." in bare and "," in bare:
        decimal = max(bare.rfind("."), bare.rfind(","))
        return {_plain(re.sub("[.,]", "", bare[:decimal]) + "." + bare[decimal + 1 :])}
    values = set()
    if re.fullmatch(r"\d{1,3}([.,]\d{3})+", bare):
        values.add(_plain(re.sub("[.,]", "", bare)))
    if bare.count(".") + bare.count(",") <= 1:
        values.add(_plain(bare.replace(",", ".")))
    return values or {_plain(re.sub("[.,]", "", bare))}


def _plain(value: str) -> str:
    number = Decimal(value)
    return f"{number.normalize():f}" if number else "0"
