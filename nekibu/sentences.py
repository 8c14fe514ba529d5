"""Sentences that a record keeps in English and that pages tell in the reader's language. No Django here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cache

_PLACE = re.compile(r"%\((\w+)\)s|%%")


class Sentence(StrEnum):
    """A closed vocabulary of sentences with named places. The members of its children are messages to be translated."""

    def say(self, **named: object) -> str:
        """The sentence as the record keeps it."""
        return self.value % named


def recognise(text: str, known: Iterable[Sentence]) -> tuple[Sentence, dict[str, str]] | None:
    """Which sentence a text is, and what stands at its places; None for text that nobody here said.

    Where two fit, the one with more words of its own is meant.
    """
    fitting = [(s, match.groupdict()) for s in known if (match := _pattern(s.value).fullmatch(text))]
    return max(fitting, key=lambda found: len(_PLACE.sub("", found[0].value)), default=None)


def retold(
    text: str,
    known: Iterable[Sentence],
    translate: Callable[[str], str],
    named: Callable[[str, str], str] = lambda name, value: value,
) -> str | None:
    """The same sentence through `translate`, what stands at a place through `named`; None for text that nobody here said."""
    found = recognise(text, known)
    if found is None:
        return None
    sentence, values = found
    return translate(sentence.value) % {name: named(name, value) for name, value in values.items()}


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    parts, at = [], 0
    for place in _PLACE.finditer(sentence):
        parts.append(re.escape(sentence[at : place.start()]))
        parts.append(f"(?P<{place.group(1)}>.+?)" if place.group(1) else "%")
        at = place.end()
    return re.compile("".join([*parts, re.escape(sentence[at:])]), re.DOTALL)
