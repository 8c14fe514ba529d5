"""From lines without places to the stored text and its pieces, for formats that have no pages."""

from __future__ import annotations

from nekibu.files.parsers import sentences
from nekibu.files.parsers.base import Page, Piece, PieceKind
from nekibu.files.parsers.pages import LONGEST_ROW


class TextOfBlocks:
    """Grows the text block by block; a block is a paragraph, a table row, a line or a page header."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pieces: list[Piece] = []

    def __len__(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces in document order, numbered from 1."""
        return tuple(self._pieces)

    def add(self, block: str, kind: PieceKind) -> None:
        """Write a block and cut it at the ends of its sentences; a row stays whole while it is short."""
        start = self._length
        self._parts.append(block + "\n")
        self._length += len(block) + 1
        if kind == "row" and block.strip() and len(block) <= LONGEST_ROW:
            self._piece(start + len(block) - len(block.lstrip()), start + len(block.rstrip()), kind)
            return
        for a, b in sentences.spans(block, 0, len(block)):
            self._piece(start + a, start + b, kind)

    def page(self, quality: str, kind: str) -> Page:
        """The one page of a format without pages."""
        return Page(1, 0, self._length, 0.0, 0.0, quality, kind)

    def _piece(self, start: int, end: int, kind: PieceKind) -> None:
        self._pieces.append(Piece(len(self._pieces) + 1, 1, start, end, kind, None))
