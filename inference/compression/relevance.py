"""How much a passage has to do with a question: shared dictionary forms, rare ones more; terms named outright count double."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from nekibu.language.lemmas import lemmas
from nekibu.language.terms import contains_term


def relevance(texts: Sequence[str], question: str, terms: tuple[str, ...] = ()) -> list[float]:
    """One figure for each text, 0 where nothing is shared. Equal inputs give equal figures on every machine."""
    asked = [forms for text in (question, *terms) for forms in lemmas(text)]
    held = [frozenset().union(*lemmas(text)) if text.strip() else frozenset() for text in texts]
    spread: Counter[int] = Counter()
    for number, forms in enumerate(asked):
        spread[number] = sum(not forms.isdisjoint(one) for one in held)
    scores = []
    for text, one in zip(texts, held, strict=True):
        shared = sum(
            log(1 + len(texts) / spread[number])
            for number, forms in enumerate(asked)
            if spread[number] and not forms.isdisjoint(one)
        )
        named = sum(log(1 + len(texts)) for term in terms if contains_term(text, (term,)))
        scores.append(round(shared + 2 * named, 9))
    return scores
