"""The proof of a compression, from the text that is really sent: the same protected fields, no word cut, every copy kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from inference.compression.cleanup import unquoted
from inference.reasons import Noted
from inference.types import Evidence, ProtectedField, Removal, one_line

Extract = Callable[[Iterable[Evidence]], tuple[ProtectedField, ...]]
REWRITTEN = frozenset({"WHITESPACE", "SERIALIZATION"})  # the span stays, in fewer characters
COPIES = frozenset({"DUP_SPAN", "BOILERPLATE", "QUOTE_CHAIN"})
OUT_OF_DATE = frozenset({"SUPERSEDED_VERSION", "STALE_TOOL_OUTPUT"})


def broken(
    pieces: Sequence[Evidence],
    before: tuple[ProtectedField, ...],
    kept: Sequence[Evidence],
    after: tuple[ProtectedField, ...],
    removals: Sequence[Removal],
    requires: Callable[[ProtectedField], bool],
) -> str:
    """Which promise does not hold, or nothing. `after` was read from the lines that are sent."""
    texts = {piece.id: piece for piece in pieces}
    if [p.id for p in kept] != [p.id for p in pieces if p.id in {k.id for k in kept}]:
        return Noted.ORDER_CHANGED.say()
    gone: list[ProtectedField] = []
    needed: list[ProtectedField] = []
    for removal in removals:
        if removal.reason in REWRITTEN:
            continue
        piece = texts[removal.evidence_id]
        start, end = removal.start - piece.start, removal.end - piece.start
        if _inside_word(piece.text, start) or _inside_word(piece.text, end):
            return Noted.CUT_INSIDE.say(piece=piece.id)
        for field in (f for f in before if f.evidence_id == piece.id and f.start < end and start < f.end):
            if field.start < start or field.end > end:
                return Noted.CUT_INSIDE.say(piece=piece.id)
            gone.append(field)
            if removal.reason not in OUT_OF_DATE and requires(field):
                needed.append(field)
    if _counted(after) + _counted(gone) != _counted(before):
        return Noted.FIELDS_DIFFER.say()
    here = _counted(after)
    for field in needed:
        if _name(field) not in here:
            return Noted.REQUIRED_GONE.say(piece=field.evidence_id, kind=field.kind)
    return _uncopied(texts, {k.id for k in kept}, removals)


def lines(kept: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The pieces with the text that is really sent."""
    return tuple(replace(piece, text=piece.line) for piece in kept)


def _uncopied(texts: dict[str, Evidence], kept: set[str], removals: Sequence[Removal]) -> str:
    for removal in removals:
        if not removal.kept:
            continue
        if removal.kept not in kept:
            return Noted.TWIN_GONE.say(piece=removal.evidence_id, kept=removal.kept)
        said, twin = texts[removal.evidence_id].text, texts[removal.kept].text
        same = (
            unquoted(said) == unquoted(twin)
            if removal.reason == "QUOTE_CHAIN"
            else said.split() == twin.split()
        )
        if removal.reason in COPIES and not same:
            return Noted.NO_COPY.say(piece=removal.evidence_id, kept=removal.kept)
    return ""


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _is_word(text[at - 1]) and _is_word(text[at])


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _name(field: ProtectedField) -> tuple[str, str]:
    return field.kind, one_line(field.raw)


def _counted(fields: Iterable[ProtectedField]) -> Counter[tuple[str, str]]:
    return Counter(map(_name, fields))
