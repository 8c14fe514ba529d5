"""Words by their dictionary forms, so that `ihaleye` meets `ihalesi` and `ödeyeceğiz` meets `ödeme`."""

from __future__ import annotations

from functools import cache, lru_cache

import akana

from nekibu.language.turkish import fold, lower, words

# Words that tell nothing about what a text is about. Negations are none of them.
STOP = frozenset(
    fold(word)
    for word in [
        "ve",
        "ile",
        "bir",
        "bu",
        "şu",
        "o",
        "da",
        "de",
        "ki",
        "mi",
        "mı",
        "mu",
        "mü",
        "için",
        "gibi",
        "kadar",
        "olan",
        "olarak",
        "ise",
        "veya",
        "ya",
        "hem",
        "en",
        "çok",
        "her",
        "ne",
        "nasıl",
        "hangi",
        "kaç",
        "kim",
        "nedir",
        "var",
        "olur",
        "oldu",
        "eder",
        "etti",
        "tarafından",
        "göre",
        "üzere",
        "üzerinde",
        "sonra",
        "önce",
        "the",
        "a",
        "an",
        "of",
        "and",
        "or",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "with",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "what",
        "which",
        "who",
        "when",
        "where",
        "how",
        "does",
        "do",
        "did",
        "has",
        "have",
        "had",
    ]
)


def lemmas(text: str) -> tuple[frozenset[str], ...]:
    """For each word of a text in order: the folded word and all its dictionary forms; words of `STOP` are left out."""
    return tuple(forms(word.text) for word in words(text) if fold(word.text) not in STOP)


@lru_cache(maxsize=32_768)
def forms(word: str) -> frozenset[str]:
    """A word and its dictionary forms, folded. A verb meets its noun: `ödemek` is also `ödeme`."""
    found = {fold(word)}
    for reading in _morphology().analyze(lower(word)):
        lemma = fold(reading["lemma"])
        found.add(lemma)
        if reading["primary_pos"] == "Verb" and lemma.endswith(("mek", "mak")):
            found.add(lemma[:-1])
    return frozenset(found)


@cache
def _morphology() -> akana.Morphology:
    return akana.Morphology()
