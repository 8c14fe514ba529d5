"""Pieces of documents: as found, as protected and as compressed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_BREAK = re.compile("[\\n\\r\\t\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]")


def one_line(text: str) -> str:
    """A text on one line, so that no document can open a line of its own: a blank for every break, nothing else changed."""
    return _BREAK.sub(" ", text)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of one immutable document version.

    `text` is what a model may see (masked where the product masks); `text_hash` is over the stored, unmasked text of
    the span, which is what is re-read and shown. `id` is given by the retrieval stage: E1, E2, …
    """

    document_id: str
    version_id: str
    start: int
    end: int
    text: str
    text_hash: str
    id: str = ""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    kind: str = "line"
    access_rules: tuple[str, ...] = ()
    parser_id: str = ""
    score: float | None = None
    findings: tuple[str, ...] = ()
    verbatim: bool = False  # marked not to be compressed

    @property
    def line(self) -> str:
        """The text as it is sent."""
        return one_line(self.text)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever answers: pieces in document order, and what it noticed."""

    pieces: tuple[Evidence, ...]
    flags: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()  # (document, version)


@dataclass(frozen=True, slots=True)
class RetrievalBudget:
    """How much a retriever may bring, and how much of it is sent where the task selects."""

    pieces: int = 400
    tokens: int = 12_000
    neighbours: int = 0  # pieces on either side of one that fits; at least one where risk is high
    min_margin: float = 0.15  # share of the best score under which a unit is the first to go


@dataclass(frozen=True, slots=True)
class ProtectedField:
    """A value, clause or fact that must survive word for word.

    `canonical` is its first reading; an ambiguous one has several, or a doubt, and never fills anything by itself. What was
    read from an image is unconfirmed until a second reading or a person agrees.
    """

    kind: (
        str  # money, currency, date, duration, rate, quantity, threshold, obligation, exception, identifier …
    )
    raw: str
    canonical: str
    evidence_id: str
    start: int
    end: int
    detector: str = ""
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()
    grade: Literal["exact", "ocr_unconfirmed"] = "exact"


@dataclass(frozen=True, slots=True)
class Removal:
    """What compression took out, and why. A rewritten span (WHITESPACE, SERIALIZATION) is still there, in fewer tokens."""

    evidence_id: str
    start: int
    end: int
    stage: str
    reason: str  # DUP_SPAN, BOILERPLATE, OFF_QUESTION …
    tokens: int
    kept: str = ""  # the surviving twin of a duplicate
    span_hash: str = ""  # over the characters of the span
    kept_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Compressed:
    """The evidence that is sent, what was removed, and whether the result stood its own check."""

    evidence: tuple[Evidence, ...]
    removals: tuple[Removal, ...]
    state: Literal["none", "applied", "refused"]
    fields_before: int
    fields_after: int
    tokens_before: int
    tokens_after: int
    reasons: tuple[str, ...] = ()
    retokenised: int = 0  # before − after − Σ of the removals: what joining the rest changed
    budget: int | None = None  # tokens that the question and the risk allow, where the task selects
