"""Selection: which clauses, rows or pieces a question does not need, within a budget that risk and question set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from inference.compression.relevance import relevance
from inference.types import Evidence, ProtectedField, RetrievalBudget, Risk
from nekibu.language.lemmas import STOP
from nekibu.language.turkish import fold, words

SUPERSEDED, CONTRADICTS = "superseded_version", "contradicts"  # findings of a retriever that decide here
WHOLE = frozenset({"row", "table", "json", "code", "tool_output"})  # kinds whose unit is the whole piece
STAY = frozenset({"heading", "table_header"})
_SAME_WORDS = 5  # content words from which on equal wording is no accident
_ROOM = {"R0": 0.75, "R1": 1.0, "R2": 1.5, "R3": 2.0}


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked, and how much may be sent. `required` kinds never go; None means every kind."""

    question: str
    terms: tuple[str, ...]
    budget: int
    whole_pieces: bool
    neighbours: int
    min_margin: float
    required: frozenset[str] | None = None

    def requires(self, field: ProtectedField) -> bool:
        """Whether a field has to be in what is sent."""
        return self.required is None or field.kind in self.required


@dataclass(frozen=True, slots=True)
class Unit:
    """A clause, row or piece: its place in the piece's text, its tokens, the fields in it."""

    piece: Evidence
    start: int
    end: int
    tokens: int
    fields: tuple[ProtectedField, ...] = ()
    held: bool = False  # stays, whatever the question is

    @property
    def text(self) -> str:
        """Its characters."""
        return self.piece.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A unit that goes, why, and which unit says the same."""

    unit: Unit
    reason: str
    kept: Unit | None = None


def selection_for(
    budget: RetrievalBudget,
    risk: Risk,
    *,
    question: str,
    terms: tuple[str, ...],
    room: int,
    required: tuple[str, ...] | None,
) -> Selection:
    """The budget for one question at one risk: more room and whole pieces with neighbours where more is at stake."""
    high = risk in ("R2", "R3")
    return Selection(
        question,
        terms,
        min(int(budget.tokens * _ROOM[risk]), room),
        whole_pieces=high,
        neighbours=max(budget.neighbours, 1) if high else budget.neighbours,
        min_margin=budget.min_margin,
        required=None if required is None else frozenset(required),
    )


def select(
    pieces: tuple[Evidence, ...],
    fields: tuple[ProtectedField, ...],
    asked: Selection,
    cut: Callable[[str], list[tuple[int, int]]],
    count: Callable[[str], int],
    twins: frozenset[str] = frozenset(),
) -> list[Dropped]:
    """What goes, in document order; `twins` are pieces that stay because others went for them. At high risk nothing goes within the budget, and over it whole pieces off the question only."""
    by_piece: dict[str, list[ProtectedField]] = {piece.id: [] for piece in pieces}
    for field in fields:
        if field.evidence_id in by_piece:
            by_piece[field.evidence_id].append(field)
    units = [
        unit
        for piece in pieces
        for unit in _units(piece, by_piece[piece.id], cut, count, asked.whole_pieces, piece.id in twins)
    ]
    total = sum(unit.tokens for unit in units)
    if asked.whole_pieces and total <= asked.budget:
        return []
    dropped = {id(one.unit): one for one in _superseded(units)}
    if not asked.whole_pieces:
        dropped |= {id(one.unit): one for one in _said_twice([u for u in units if id(u) not in dropped])}
    pinned = {id(one.kept) for one in dropped.values() if one.kept is not None}
    left = [unit for unit in units if id(unit) not in dropped]
    over = sum(unit.tokens for unit in left) - asked.budget
    if over > 0:
        for one in _least(left, pinned, asked):
            if over <= 0:
                break
            dropped[id(one.unit)] = one
            over -= one.unit.tokens
    return [dropped[id(unit)] for unit in units if id(unit) in dropped]


def _units(
    piece: Evidence,
    fields: list[ProtectedField],
    cut: Callable[[str], list[tuple[int, int]]],
    count: Callable[[str], int],
    whole: bool,
    twin: bool,
) -> Iterator[Unit]:
    together = whole or piece.verbatim or piece.kind in WHOLE
    for start, end in [(0, len(piece.text))] if together else cut(piece.text):
        inside = tuple(f for f in fields if start <= f.start and f.end <= end)
        yield Unit(piece, start, end, count(piece.text[start:end]), inside, twin or _marked(piece))


def _superseded(units: list[Unit]) -> Iterator[Dropped]:
    """What a newer version replaced, where the newer one is here too."""
    current = {u.piece.document_id for u in units if SUPERSEDED not in u.piece.findings}
    for unit in units:
        piece = unit.piece
        if SUPERSEDED in piece.findings and piece.document_id in current and not unit.held:
            yield Dropped(unit, "SUPERSEDED_VERSION")


def _said_twice(units: list[Unit]) -> Iterator[Dropped]:
    """The same words in the same order, but for case, marks and words such as `ve`: the first stays."""
    first: dict[tuple[object, ...], Unit] = {}
    for unit in units:
        said = tuple(w for word in words(unit.text) if (w := fold(word.text)) not in STOP)
        if len(said) < _SAME_WORDS:
            continue
        same = (said, tuple(sorted((f.kind, f.raw) for f in unit.fields)))
        twin = first.setdefault(same, unit)
        if twin is not unit and not unit.held:
            yield Dropped(unit, "NEAR_DUP", twin)


def _least(units: list[Unit], pinned: set[int], asked: Selection) -> Iterator[Dropped]:
    """The units that may go, the least fitting first; of equals the later."""
    scores = _scores(units, asked)
    best = max(scores, default=0.0)
    kept_near = _near([u.piece.id for u in units], scores, asked.neighbours)
    order = sorted(range(len(units)), key=lambda at: (scores[at], -at))
    for at in order:
        unit = units[at]
        if id(unit) in pinned or at in kept_near or unit.held or any(map(asked.requires, unit.fields)):
            continue
        if scores[at] == 0:
            yield Dropped(unit, "OFF_QUESTION")
        elif asked.whole_pieces:
            return  # what has to do with the question stays where much is at stake
        elif scores[at] < asked.min_margin * best:
            yield Dropped(unit, "LOW_SCORE")
        else:
            yield Dropped(unit, "OVER_BUDGET")


def _scores(units: list[Unit], asked: Selection) -> list[float]:
    """Shared words and the retriever's own score, each against its best."""
    shared = _scaled(relevance([unit.text for unit in units], asked.question, asked.terms))
    given = _scaled([unit.piece.score or 0.0 for unit in units])
    return [round(one + other, 9) for one, other in zip(shared, given, strict=True)]


def _scaled(scores: list[float]) -> list[float]:
    best = max(scores, default=0.0)
    return [max(score, 0.0) / best for score in scores] if best > 0 else [0.0] * len(scores)


def _near(ids: list[str], scores: list[float], reach: int) -> set[int]:
    """The places within `reach` pieces of one that has to do with the question."""
    order: Mapping[str, int] = {piece: number for number, piece in enumerate(dict.fromkeys(ids))}
    fitting = {order[piece] for piece, score in zip(ids, scores, strict=True) if score > 0}
    near = {number + step for number in fitting for step in range(-reach, reach + 1)} if reach else set()
    return {at for at, piece in enumerate(ids) if order[piece] in near}


def _marked(piece: Evidence) -> bool:
    """Marked not to be compressed, against what was found, or a heading."""
    return piece.verbatim or CONTRADICTS in piece.findings or piece.kind in STAY
