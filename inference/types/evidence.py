"""Pieces of documents: as found, as protected and as compressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever answers: pieces in document order, and what it noticed."""

    pieces: tuple[Evidence, ...]
    flags: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()  # (document, version)


@dataclass(frozen=True, slots=True)
class RetrievalBudget:
    """How much a retriever may bring."""

    pieces: int = 400
    tokens: int = 12_000


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
    """What compression took out, and why."""

    evidence_id: str
    start: int
    end: int
    stage: str
    reason: str  # DUP_SPAN, BOILERPLATE, WHITESPACE
    tokens: int
    kept: str = ""  # the surviving twin of a duplicate


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
