"""From lines with places to the stored text and its pieces: wrapped lines become paragraphs, paragraphs sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from nekibu.files.parsers import sentences
from nekibu.files.parsers.base import Box, Piece, PieceKind
from nekibu.files.parsers.columns import Line
from nekibu.files.parsers.words import Word

WRAPPED_CHARACTERS = 45
LONGEST_ROW = 400


class TextOfPages:
    """Grows the text line by line and remembers a box for each of its characters."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._boxes: list[Box | None] = []
        self._pieces: list[Piece] = []
        self._page = 0
        self._start = 0
        self._first = 0

    def __len__(self) -> int:
        return len(self._boxes)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces in reading order, numbered from 1."""
        return tuple(self._pieces)

    def begin(self, number: int) -> None:
        """Start a page."""
        self._page = number
        if self._boxes and not self._parts[-1].endswith("\n"):
            self._append("\n", None)
        self._start, self._first = len(self), len(self._parts)

    def add(self, lines: Sequence[Line]) -> None:
        """Write lines in their order, cutting what belongs together into pieces."""
        for _, group in groupby(lines, key=lambda line: line.region):
            members = list(group)
            right = max(line.words[-1].x1 for line in members)
            for paragraph in _paragraphs(members, right):
                self._paragraph(paragraph)

    def written(self) -> int:
        """How many characters other than white space this page has so far."""
        return sum(not char.isspace() for char in self.of_page())

    def of_page(self) -> str:
        """The text of the page in work."""
        return "".join(self._parts[self._first :])

    def finish(self) -> tuple[int, int]:
        """End the page: the span of its text, without the line end after it."""
        end = len(self)
        if end > self._start and self._parts[-1] == "\n":
            end -= 1
        return self._start, end

    def _paragraph(self, lines: list[Line]) -> None:
        start, first = len(self), len(self._parts)
        for place, line in enumerate(lines):
            if place:
                self._append("\n", None)
            self._line(line)
        text = "".join(self._parts[first:])
        kind: PieceKind = "row" if lines[0].kind == "row" else "paragraph" if len(lines) > 1 else "line"
        whole = kind == "row" and len(text) <= LONGEST_ROW
        spans: Iterable[tuple[int, int]] = [(0, len(text))] if whole else sentences.spans(text, 0, len(text))
        for a, b in spans:
            box = self._box(start + a, start + b)
            self._pieces.append(Piece(len(self._pieces) + 1, self._page, start + a, start + b, kind, box))
        self._append("\n", None)

    def _line(self, line: Line) -> None:
        for place, cell in enumerate(line.cells):
            if place:
                self._append("\t", None)
            for index, word in enumerate(cell):
                if index:
                    self._append(" ", None)
                for glyph in word.glyphs:
                    self._append(glyph.char, glyph.shown)

    def _append(self, text: str, box: Box | None) -> None:
        self._parts.append(text)
        self._boxes.extend([box] * len(text))

    def _box(self, start: int, end: int) -> Box | None:
        boxes = [box for box in self._boxes[start:end] if box is not None]
        if not boxes:
            return None
        x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
        x1, y1 = max(b[2] for b in boxes), max(b[3] for b in boxes)
        return round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2)


def _paragraphs(lines: list[Line], right: float) -> list[list[Line]]:
    """Lines that a full line wrapped into, together; headings, list items and rows stand alone."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _continues(groups[-1], line, right):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _continues(group: list[Line], line: Line, right: float) -> bool:
    last = group[-1]
    if last.kind == "row" or line.kind == "row":
        return False
    before, words = last.words, line.words
    text, previous = _text(words), _text(before)
    if sentences.is_item(text) or abs(before[0].size - words[0].size) > 0.15 * before[0].size:
        return False
    step = before[0].base - words[0].base
    if not 0 < step <= 1.8 * before[0].size or not _same_weight(before[-1], words[0]):
        return False
    wrapped = before[-1].x1 + 0.2 * words[0].size + (words[0].x1 - words[0].x0) > right
    return wrapped and (text[0].islower() or previous[-1] in ",;(-" or len(previous) >= WRAPPED_CHARACTERS)


def _same_weight(one: Word, other: Word) -> bool:
    """Whether both are written alike; a change of colour is a change of paragraph."""
    a, b = one.glyphs[0].ink, other.glyphs[0].ink
    return a is None or b is None or a.fill == b.fill


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
