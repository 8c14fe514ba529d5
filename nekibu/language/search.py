"""Finding a typed query in stored text: exact before relaxed before broken, always as a place in the original."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nekibu.language.turkish import exact_key, fold, key

Level = Literal["exact", "relaxed", "broken"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a query stands, and how closely the letters agree."""

    start: int
    end: int
    level: Level


def find(text: str, query: str) -> list[Hit]:
    """Every place where the query begins a word, in text order; only if there is none, words broken by a parser."""
    folded_query, exact_query = fold(query), exact_key(query)
    if not folded_query:
        return []
    relaxed = key(text)
    hits: list[Hit] = []
    for match in re.finditer(_word_start(folded_query), relaxed.text):
        start, end = relaxed.span(*match.span())
        level: Level = "exact" if exact_key(text[start:end]) == exact_query else "relaxed"
        hits.append(Hit(start, end, level))
    return hits or _find_broken(text, folded_query)


def prefix_matches(query: str, candidates: Iterable[str], *, relaxed: bool = True) -> list[str]:
    """Candidates with a word that begins with the query: those spelled exactly so first, each group in given order."""
    exact_query, folded_query = exact_key(query), fold(query)
    exact: list[str] = []
    loose: list[str] = []
    for candidate in candidates:
        if re.search(_word_start(exact_query), exact_key(candidate)):
            exact.append(candidate)
        elif relaxed and re.search(_word_start(folded_query), fold(candidate)):
            loose.append(candidate)
    return exact + loose


def broken_share(text: str) -> float:
    """The share of words that look like pieces of a text layer torn apart (`R üş vet`), from 0 to 1."""
    pieces = list(re.finditer(r"(?<![\w'’])[^\W\d_]+", text))  # no suffixes after an apostrophe
    if not pieces:
        return 0.0
    torn = [_is_fragment(piece.group()) for piece in pieces]
    lone = [len(piece.group()) == 1 and piece.group().isupper() for piece in pieces]
    beside = [
        lone[i] and (torn[i - 1 : i] == [True] or torn[i + 1 : i + 2] == [True]) for i in range(len(pieces))
    ]
    lost = len(re.findall(r"[^\W\d_]\n [^\W\d_]", text))  # a letter that a font turned into a line break
    return min(1.0, (sum(torn) + sum(beside) + lost) / len(pieces))


def looks_broken(text: str) -> bool:
    """Whether so many words are torn that the page deserves the mark "low text quality"."""
    return broken_share(text) >= _BROKEN_SHARE


def _word_start(wanted: str) -> str:
    # An apostrophe before the match means a suffix ("Ankara'dan"), which is not a word of its own.
    guard = r"(?<!\w)(?<!\w')" if wanted[:1].isalnum() else ""
    return guard + re.escape(wanted)


def _find_broken(text: str, folded_query: str) -> list[Hit]:
    """The query with blanks inside its words, or with an i that a font has turned into a line break."""
    letters = [letter for letter in folded_query if letter != " "]
    if len(letters) < 4:
        return []
    spaced = key(text, collapse=False)
    parts = [r"(?:i|\s*\n\s*)" if letter == "i" else re.escape(letter) for letter in letters]
    pattern = r"(?<!\w)" + r"[ \t\n]{0,2}".join(parts) + r"(?!\w)"
    return [Hit(*spaced.span(*match.span()), "broken") for match in re.finditer(pattern, spaced.text)]


def _is_fragment(piece: str) -> bool:
    if len(piece) > 2 or not piece.islower():
        return False
    return piece not in (_SHORT_WORDS if piece.isascii() else _SHORT_TURKISH_WORDS)


_BROKEN_SHARE = 0.1
_SHORT_WORDS = frozenset({
    "ac", "ad", "af", "ah", "ak", "al", "am", "an", "ar", "as", "at", "av", "ay", "az", "be", "bi", "bu",
    "da", "de", "e", "ed", "eh", "ek", "el", "em", "en", "er", "es", "et", "ev", "ey", "fa", "go", "ha",
    "he", "hi", "hu", "i", "ic", "id", "if", "ii", "ik", "il", "im", "in", "ip", "is", "it", "iv", "ix",
    "iz", "ki", "km", "kg", "la", "le", "lt", "m", "m2", "me", "mi", "mm", "ms", "mu", "my", "ne", "no",
    "o", "od", "of", "oh", "ok", "ol", "on", "op", "or", "os", "ot", "oy", "oz", "pr", "re", "s", "sa",
    "se", "si", "so", "su", "sn", "ta", "te", "tl", "to", "ts", "un", "up", "us", "uc", "uz", "va", "ve",
    "vb", "vd", "vs", "vi", "we", "x", "y", "ya", "ye", "yy", "a", "b", "c", "d", "r", "t", "ab", "cm",
    "dk", "gr", "hz", "pc", "vp",
})  # fmt: skip
_SHORT_TURKISH_WORDS = frozenset({
    "aç", "aş", "ağ", "çe", "eş", "iç", "iş", "öç", "öf", "öğ", "ön", "öz", "şe", "şu", "üç", "ün", "üs",
    "uç", "uş", "ya", "yı", "i̇ş", "ı", "ü", "â",
})  # fmt: skip
