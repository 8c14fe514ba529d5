"""All families over a text: clause by clause, in its document's way of writing numbers, every find with its exact characters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from inference.protected import dates, durations, identifiers, money, obligations, persons, quantities, rates
from inference.protected.clauses import levelled, tiles
from inference.protected.found import Family, Found, Writing
from inference.protected.thresholds import limited
from inference.types import Evidence, ProtectedField
from nekibu.language.numbers import document_locale
from nekibu.language.turkish import key

OCR = "ocr"  # the finding of a piece whose characters were read from an image
Documents = Mapping[tuple[str, str], Writing]

_NUMBER_WORDS = (
    r"iki|[uü]ç|uc|d[oö]rt|be[sş]|alt[ıi]|yedi|sekiz|dokuz|yirmi|otuz|k[ıi]rk|elli|altm[ıi][sş]|yetmi[sş]|seksen|doksan|"
    r"y[uü]z|bin|milyon|milyar|yar[ıi]m|bu[cç]uk|bir|on|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|eighteen|twenty|thirty"
)
_MAY_HOLD_VALUE = re.compile(
    rf"\d|@|[(\[]at[)\]]|www\.|://|\.com/|[¼½¾⅐-⅞]|(?<!\w)(?:{_NUMBER_WORDS})", re.IGNORECASE
)
_MAY_HOLD_CURRENCY = re.compile(
    r"[₺$€£¥]|(?<!\w)(?:TRY|TL|USD|EUR|GBP|CHF|JPY|SAR|AED|RUB)(?!\w)|liras|dolar|dollar|avro|euro|sterl[iı]n|frang|franc|(?:japon|japanese) yen",
    re.IGNORECASE,
)
# What is more special stands before the bare number in it; no value lies inside another.
_VALUES: tuple[tuple[str, Family], ...] = (
    ("identifiers", identifiers.find),
    ("dates", dates.find),
    ("rates", rates.find),
    ("money", money.find),
    ("durations", durations.find),
    ("quantities", quantities.find),
)
# These hold a whole clause or a passage, and the values in it are fields beside them.
_PASSAGES: tuple[tuple[str, Family], ...] = (("obligations", obligations.find), ("persons", persons.find))
_READ_TWICE = frozenset({"rate", "money", "threshold", "date", "identifier", "source_uri"})


def extract(evidence: Iterable[Evidence], documents: Documents | None = None) -> tuple[ProtectedField, ...]:
    """All protected fields of the pieces, in order. Invariant: `piece.text[f.start:f.end] == f.raw`.

    `documents` says how each document writes numbers (`locales`); without it the pieces themselves decide.
    """
    pieces = tuple(evidence)
    known = locales(pieces) if documents is None else documents
    return tuple(
        found
        for piece in pieces
        for found in scan(
            piece.text,
            piece.id,
            writing=known[piece.document_id, piece.version_id],
            ocr=OCR in piece.findings,
        )
    )


def locales(evidence: Iterable[Evidence]) -> dict[tuple[str, str], Writing]:
    """How each document version writes its numbers, by all its pieces together; "open" where they do not tell."""
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for piece in evidence:
        texts[piece.document_id, piece.version_id].append(" ".join(piece.text.split()))
    return {version: document_locale("\n".join(lines)) or "open" for version, lines in texts.items()}


def scan(
    text: str, evidence_id: str = "", *, writing: Writing | None = None, ocr: bool = False
) -> tuple[ProtectedField, ...]:
    """The protected fields of one text in order: the union of those of its clauses.

    Without `writing` the text is its own document. What `ocr` read from an image is unconfirmed until it is read twice.
    """
    level, places = levelled(text)
    decided: Writing = writing or document_locale(level) or "open"
    fields = []
    for offset, stop in tiles(level):
        for detector, found in _found(level[offset:stop], decided):
            first, last = places[offset + found.start], places[offset + found.end - 1] + 1
            several = found.readings if len(found.readings) > 1 else ()
            fields.append(
                ProtectedField(
                    found.kind,
                    text[first:last],
                    found.readings[0],
                    evidence_id,
                    first,
                    last,
                    detector,
                    found.doubtful or bool(several),
                    several,
                    "ocr_unconfirmed" if ocr and found.kind in _READ_TWICE else "exact",
                )
            )
    return tuple(fields)


def multiset(fields: Iterable[ProtectedField]) -> Counter[tuple[str, str]]:
    """Fields as a multiset of (kind, exact characters)."""
    return Counter((f.kind, f.raw) for f in fields)


def numbers(fields: Iterable[ProtectedField]) -> frozenset[str]:
    """The figures in the fields, in canonical form and in every reading: what an answer may repeat."""
    return frozenset(
        figure
        for field in fields
        for reading in (field.alternatives or (field.canonical,))
        for figure in _figures(field.kind, reading)
    )


def _found(clause: str, writing: Writing) -> list[tuple[str, Found]]:
    """The finds of one clause in order, each with the family that found it."""
    kept: list[tuple[str, Found]] = []
    taken = bytearray(len(clause))
    values = _VALUES if _MAY_HOLD_VALUE.search(clause) else ()
    folded = key(clause, collapse=False) if values else None
    for family, find in values:
        for found in find(clause, writing):
            if any(taken[found.start : found.end]):
                continue
            taken[found.start : found.end] = b"\x01" * (found.end - found.start)
            if folded is not None:
                place = bisect_left(folded.starts, found.start), bisect_left(folded.starts, found.end)
                whole = limited(found, folded, *place)
                if whole is not found and any(
                    taken[whole.start : found.start] + taken[found.end : whole.end]
                ):
                    whole = found
                found = whole
            taken[found.start : found.end] = b"\x01" * (found.end - found.start)
            kept.append((family, found))
    if _MAY_HOLD_CURRENCY.search(clause):
        for found in money.find_currencies(clause, writing):
            if not any(taken[found.start : found.end]):
                taken[found.start : found.end] = b"\x01" * (found.end - found.start)
                kept.append(("money", found))
    for family, find in _PASSAGES:
        kept += [(family, found) for found in find(clause, writing)]
    return sorted(kept, key=lambda one: (one[1].start, -one[1].end))


def _figures(kind: str, reading: str) -> Iterator[str]:
    """`2019-03` is 2019 and 3, `P12M45D` 12 and 45, `1250 TRY` 1250, `>= 3` is 3; an address is itself; clauses hold none."""
    if kind in ("source_uri", "identifier"):
        yield reading
        return
    if kind in ("obligation", "exception", "person_fact", "currency"):
        return
    value = reading.split(" ", 1)[1] if kind == "threshold" else reading
    if kind == "date" or re.fullmatch(r"\d{4}-\d\d(?:-\d\d)?", value):
        yield from (str(int(part)) for part in re.findall(r"\d+", value))
    elif value.startswith("P"):
        yield from re.findall(r"\d+(?:\.\d+)?", value)
    else:
        yield from re.findall(r"^-?(\d+(?:[./]\d+)?)", value)
