"""Sources: each cited piece must be in the package, and its span is read again from the stored text at its version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from inference.types import Citation, Evidence, Finding, text_digest


@dataclass(frozen=True, slots=True)
class Sources:
    """The answer without unverifiable ids, the verified citations, and what was dropped."""

    value: Mapping[str, Any]
    citations: tuple[Citation, ...]
    cited: Mapping[str, tuple[Evidence, ...]]
    claims: int
    findings: tuple[Finding, ...]


def check(
    value: Mapping[str, Any],
    claim_paths: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    reread: Callable[[Evidence], str | None],
) -> Sources:
    """Verify every cited id. What cannot be verified is dropped and counted; a quotation cannot be invented."""
    known = {piece.id: piece for piece in evidence}
    clean, citations, findings, claims = dict(value), [], [], 0
    cited: dict[str, tuple[Evidence, ...]] = {}
    for path in claim_paths:
        key = path.removeprefix("/")
        kept: list[str] = []
        pieces: list[Evidence] = []
        for number, wanted in enumerate(value.get(key) or ()):
            pointer = f"{path}/{number}"
            if wanted in kept:
                findings.append(Finding("DUPLICATE_SOURCE", "sources", "info", pointer, str(wanted)))
                continue
            claims += 1
            piece = known.get(wanted)
            if piece is None:
                findings.append(Finding("UNKNOWN_SOURCE", "sources", "escalate", pointer, str(wanted)))
                continue
            text = reread(piece)
            if text is None:
                findings.append(Finding("SOURCE_GONE", "sources", "escalate", pointer, piece.id))
                continue
            if text_digest(text) != piece.text_hash:
                findings.append(Finding("SOURCE_DIFFERS", "sources", "escalate", pointer, piece.id))
                continue
            kept.append(piece.id)
            pieces.append(piece)
            citations.append(_citation(piece, pointer, text))
        clean[key], cited[key] = kept, tuple(pieces)
    return Sources(clean, tuple(citations), cited, claims, tuple(findings))


def _citation(piece: Evidence, pointer: str, quote: str) -> Citation:
    return Citation(
        piece.id,
        pointer,
        piece.document_id,
        piece.version_id,
        piece.start,
        piece.end,
        quote,
        piece.page,
        piece.bbox,
    )
