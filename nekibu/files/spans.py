"""Places in a stored text: quotes verified against it, queries found in it. All offsets count its code points, never bytes."""

from __future__ import annotations

from dataclasses import dataclass

from nekibu.language import search
from nekibu.language.turkish import key

Level = search.Level


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]`, and how closely it agrees with what was looked for."""

    start: int
    end: int
    level: Level

    def of(self, text: str) -> str:
        """The original characters."""
        return text[self.start : self.end]

    def utf8(self, text: str) -> tuple[int, int]:
        """The same place counted in UTF-8 bytes, for readers that count so."""
        start = len(text[: self.start].encode())
        return start, start + len(self.of(text).encode())


def verify(text: str, start: int, end: int, quote: str) -> bool:
    """Whether the quote is exactly what stands there: not normalised, not lower-cased, not empty."""
    return 0 <= start < end <= len(text) and text[start:end] == quote


def find(text: str, query: str) -> list[Span]:
    """Every place where the query begins a word: exact or relaxed letters first; only without any, words torn by a parser."""
    return [Span(hit.start, hit.end, hit.level) for hit in search.find(text, query)]


def locate(text: str, quote: str, start: int = 0, end: int | None = None) -> Span | None:
    """Where a quote stands in `text[start:end]`: literally, else with letters, blanks and line ends levelled."""
    stop = len(text) if end is None else end
    wanted = quote.strip()
    if not wanted:
        return None
    at = text.find(wanted, start, stop)
    if at >= 0:
        return Span(at, at + len(wanted), "exact")
    levelled, needle = key(text[start:stop]), key(wanted).text.strip()
    place = levelled.text.find(needle) if needle else -1
    if place < 0:
        return None
    first, last = levelled.span(place, place + len(needle))
    return Span(start + first, start + last, "relaxed")
