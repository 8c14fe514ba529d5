"""Clean-up, then selection where the task wants it, then the proof; whatever fails the proof is not sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from inference.compression import cleanup
from inference.compression.proof import Extract, broken, lines
from inference.compression.selection import Selection, select
from inference.reasons import Noted
from inference.types import Compressed, Evidence, ProtectedField, Removal, text_digest

Count = Callable[[str], int]
Cut = Callable[[str], list[tuple[int, int]]]


def compress(
    pieces: tuple[Evidence, ...],
    fields: tuple[ProtectedField, ...],
    *,
    mode: str,
    extract: Extract,
    count: Count,
    cut: Cut = lambda text: [(0, len(text))],
    selection: Selection | None = None,
) -> Compressed:
    """The pieces without what need not be read. Order stays; each removal has its reason, span and tokens.

    `fields` were extracted from `pieces`; `extract` reads them again from the lines that would be sent. If a promise of
    `proof` does not hold, the pieces are sent as they were.
    """
    before = sum(count(piece.line) for piece in pieces)
    if mode == "none":
        return _unchanged(pieces, fields, before, "none", Noted.COMPRESSION_OFF.say())
    work = _Work(pieces, fields, count)
    work.clean()
    if mode == "select" and selection is not None:
        work.select(selection, cut)
    kept = work.rewrite(extract)
    after = extract(lines(kept))
    requires = selection.requires if selection is not None else (lambda field: True)
    wrong = broken(pieces, fields, kept, after, work.removals, requires)
    if wrong:
        return _unchanged(pieces, fields, before, "refused", Noted.COMPRESSION_REFUSED.say(), wrong)
    now = sum(count(piece.line) for piece in kept)
    reasons = [] if work.removals else [Noted.NOTHING_TO_REMOVE.say()]
    if selection is not None and now > selection.budget:
        reasons.append(Noted.STILL_OVER.say(tokens=now, budget=selection.budget))
    return Compressed(
        tuple(kept),
        tuple(work.removals),
        "applied" if work.removals else "none",
        len(fields),
        len(after),
        before,
        now,
        tuple(reasons),
        before - now - sum(removal.tokens for removal in work.removals),
        selection.budget if selection is not None else None,
    )


def _unchanged(
    pieces: tuple[Evidence, ...], fields: tuple[ProtectedField, ...], tokens: int, state: str, *reasons: str
) -> Compressed:
    return Compressed(pieces, (), state, len(fields), len(fields), tokens, tokens, reasons)  # type: ignore[arg-type]


@dataclass(slots=True)
class _Work:
    """One compression under way: which spans of which pieces are left."""

    pieces: tuple[Evidence, ...]
    fields: tuple[ProtectedField, ...]
    count: Count
    removals: list[Removal] = field(default_factory=list)
    cuts: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _held: dict[str, list[ProtectedField]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for found in self.fields:
            self._held.setdefault(found.evidence_id, []).append(found)

    def clean(self) -> None:
        """Take out whole pieces that say nothing new."""
        by_id = {piece.id: piece for piece in self.pieces}
        for piece_id, gone in cleanup.removed(self.pieces).items():
            piece, twin = by_id[piece_id], by_id.get(gone.kept)
            self._remove(piece, 0, len(piece.text), "lossless", gone.reason, piece.line, twin)

    def select(self, asked: Selection, cut: Cut) -> None:
        """Take out the units that the question does not need."""
        left = tuple(piece for piece in self.pieces if piece.id not in self.cuts)
        twins = frozenset(removal.kept for removal in self.removals)
        for one in select(left, self.fields, asked, cut, self.count, twins):
            unit = one.unit
            kept = (one.kept.piece, (one.kept.start, one.kept.end)) if one.kept is not None else (None, None)
            self._remove(unit.piece, unit.start, unit.end, "select", one.reason, unit.text, *kept)

    def rewrite(self, extract: Extract) -> list[Evidence]:
        """What is left, each piece in the shortest form that holds the same fields."""
        kept = []
        for piece in self.pieces:
            text = _without(piece.text, self.cuts.get(piece.id, []))
            if not text.strip() and piece.id in self.cuts:
                continue
            if piece.id in self.cuts:
                text = text.strip()
            left = replace(piece, text=text)
            if not piece.verbatim:
                left = self._shorter(left, extract, whole=piece.id not in self.cuts)
            kept.append(left)
        return kept

    def _shorter(self, piece: Evidence, extract: Extract, *, whole: bool) -> Evidence:
        held = self._held.get(piece.id, []) if whole else list(extract([piece]))
        for reason, text in cleanup.rewrites(piece, piece.text, held):
            shorter = replace(piece, text=text)
            if reason == "SERIALIZATION" and _raws(extract([shorter])) != _raws(held):
                continue  # a blank between two parts made the value
            saved = self.count(piece.line) - self.count(shorter.line)
            self.removals.append(
                Removal(
                    piece.id,
                    piece.start,
                    piece.end,
                    "lossless",
                    reason,
                    saved,
                    span_hash=text_digest(piece.text),
                )
            )
            return shorter
        return piece

    def _remove(
        self,
        piece: Evidence,
        start: int,
        end: int,
        stage: str,
        reason: str,
        text: str,
        twin: Evidence | None = None,
        inside: tuple[int, int] | None = None,
    ) -> None:
        self.cuts.setdefault(piece.id, []).append((start, end))
        span = inside or ((0, len(twin.text)) if twin is not None else None)
        self.removals.append(
            Removal(
                piece.id,
                piece.start + start,
                piece.start + end,
                stage,
                reason,
                self.count(text),
                twin.id if twin is not None else "",
                text_digest(piece.text[start:end]),
                (twin.start + span[0], twin.start + span[1])
                if twin is not None and span is not None
                else None,
            )
        )


def _without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(cuts):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def _raws(fields: Iterable[ProtectedField]) -> list[tuple[str, str]]:
    return sorted((found.kind, found.raw) for found in fields)
