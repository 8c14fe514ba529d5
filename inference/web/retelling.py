"""The record's own sentences in the reader's language: those of the stages here, those of a product's rules where it teaches them."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from inference.reasons import EngineNote, Noted
from inference.web.words import BANDS, RULE_HITS, TRUST, Word, word
from nekibu.sentences import retold

IMPACTS: dict[str, Word] = {"low": _("low impact"), "medium": _("medium impact"), "high": _("high impact")}
REVERSIBILITY: dict[str, Word] = {
    "reversible": _("reversible"),
    "compensable": _("can be compensated"),
    "irreversible": _("irreversible"),
}
Tell = Callable[[str], str | None]

_taught: list[Tell] = []


def teach(tell: Tell) -> None:
    """Let a product retell its sentences; `tell` answers None for a text that is none of them."""
    _taught.append(tell)


def told(text: str) -> str:
    """A sentence of the record in the reader's language; what a model or a person wrote stays as it is."""
    said = retold(text, Noted, gettext, _named)
    return said or next((words for tell in _taught if (words := tell(text))), text)


def engine_detail(detail: str) -> str:
    """What the gateway noted of an engine; a word of the engine's own is looked up as it is."""
    return retold(detail, EngineNote, gettext) or (gettext(detail) if detail else "")


def _named(name: str, value: str) -> str:
    tables = {
        "flag": RULE_HITS,
        "band": BANDS,
        "impact": IMPACTS,
        "reversibility": REVERSIBILITY,
        "trust_class": TRUST,
    }
    return word(tables[name], value) if name in tables else value
