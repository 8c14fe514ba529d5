"""Lossless clean-up: what stands in the evidence a second time, is out of date, or is only form."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inference.types import Evidence, ProtectedField

PAGES = 3  # a running header or footer stands on at least so many pages
RUN_CHARS = (
    120  # a copied block is at least so long; shorter repeats may be meant (the same title in two jobs)
)
TOOL_OUTPUT = "tool_output"  # kind of a piece whose document is a call and whose version is one run of it
_BLANKS = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u3000\n]{2,}|[\t\n]")
_QUOTED = re.compile(r"(?:\A|(?<=\n))[ \t]*(?:>[ \t]*)+")
_JSON_PART = re.compile(r'"(?:\\.|[^"\\])*"|\s+|[^\s"]+')
_RULED = re.compile(r"-{4,}|={4,}")


@dataclass(frozen=True, slots=True)
class Gone:
    """Why a whole piece goes, and which piece says the same."""

    reason: str
    kept: str = ""


def removed(pieces: tuple[Evidence, ...]) -> dict[str, Gone]:
    """The pieces that need not be sent. A piece that is kept for another is never removed itself."""
    gone: dict[str, Gone] = {}
    anchors: set[str] = set()
    for found in (_stale(pieces), _running(pieces), _copied(pieces), _quoted(pieces)):
        for piece_id, why in found:
            if piece_id not in gone and piece_id not in anchors and why.kept not in gone:
                gone[piece_id] = why
                anchors.add(why.kept)
    return {p.id: gone[p.id] for p in pieces if p.id in gone and not p.verbatim}


def unquoted(text: str) -> str:
    """The words of a mail without the marks of quotation, levelled."""
    return " ".join(_QUOTED.sub("", text).split())


def rewrites(piece: Evidence, text: str, fields: list[ProtectedField]) -> Iterator[tuple[str, str]]:
    """(reason, shorter text) for each form of the same text that needs fewer characters, one after the other."""
    compact = _serialized(piece.kind, text)
    if compact != text:
        yield "SERIALIZATION", compact
        return  # its blanks are gone already, and places of fields have moved
    tidy = _tidy(text, fields)
    if tidy != text:
        yield "WHITESPACE", tidy


def _stale(pieces: tuple[Evidence, ...]) -> Iterator[tuple[str, Gone]]:
    """Outputs of a call that was made again later: the last run speaks."""
    newest = {p.document_id: p.version_id for p in pieces if p.kind == TOOL_OUTPUT}
    for piece in pieces:
        if piece.kind == TOOL_OUTPUT and newest[piece.document_id] != piece.version_id:
            yield piece.id, Gone("STALE_TOOL_OUTPUT")


def _running(pieces: tuple[Evidence, ...]) -> Iterator[tuple[str, Gone]]:
    """Lines that stand first or last on three pages or more of one version: the first stays."""
    edges: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    pages: dict[tuple[str, int], list[Evidence]] = defaultdict(list)
    for piece in pieces:
        if piece.page is not None:
            pages[piece.version_id, piece.page].append(piece)
    for (version, _page), page in pages.items():
        for piece in {p.id: p for p in (*page[:2], *page[-2:])}.values():
            edges[version, _level(piece.text)].append(piece)
    for same in edges.values():
        if len({p.page for p in same}) >= PAGES:
            yield from ((p.id, Gone("BOILERPLATE", same[0].id)) for p in same[1:])


def _copied(pieces: tuple[Evidence, ...]) -> Iterator[tuple[str, Gone]]:
    """Blocks of consecutive pieces that repeat an earlier block word for word."""
    texts = [_level(p.text) for p in pieces]
    places: dict[str, list[int]] = defaultdict(list)
    here = 0
    while here < len(texts):
        length = 0
        origin = -1
        for start in places[texts[here]]:
            run = 0
            while here + run < len(texts) and start + run < here and texts[start + run] == texts[here + run]:
                run += 1
            if run > length:
                length, origin = run, start
        if length and sum(len(t) for t in texts[here : here + length]) >= RUN_CHARS:
            for step in range(length):
                yield pieces[here + step].id, Gone("DUP_SPAN", pieces[origin + step].id)
                # a copy is no origin for a later copy
            here += length
            continue
        places[texts[here]].append(here)
        here += 1


def _quoted(pieces: tuple[Evidence, ...]) -> Iterator[tuple[str, Gone]]:
    """Quoted mail (`> …` on every line) whose words stand unquoted elsewhere."""
    said: dict[str, str] = {}
    quotes = []
    for piece in pieces:
        lines = [line for line in piece.text.split("\n") if line.strip()]
        if lines and all(line.lstrip().startswith(">") for line in lines):
            quotes.append(piece)
        else:
            said.setdefault(_level(piece.text), piece.id)
    for quote in quotes:
        words = unquoted(quote.text)
        if words in said:
            yield quote.id, Gone("QUOTE_CHAIN", said[words])


def _serialized(kind: str, text: str) -> str:
    """JSON without blanks between its parts, its values and their order untouched; ruled table lines at three dashes."""
    if kind == "json":
        try:
            before = json.loads(text)
        except ValueError:
            return text
        compact = "".join(part for part in _JSON_PART.findall(text) if not part.isspace())
        return compact if json.loads(compact) == before else text
    if kind == "table" and "|" in text:
        return re.sub(r"[ ]*\|[ ]*", "|", _RULED.sub("---", text))
    return text


def _tidy(text: str, fields: Iterable[ProtectedField]) -> str:
    held = [(f.start, f.end) for f in fields]

    def blank(match: re.Match[str]) -> str:
        inside = any(start < match.end() and match.start() < end for start, end in held)
        return match.group() if inside else " "

    return _BLANKS.sub(blank, text).strip()


def _level(text: str) -> str:
    return " ".join(text.split())
