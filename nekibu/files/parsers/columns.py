"""The order in which a person reads a page: words into lines, columns one after another, tables row by row.

Everything is decided from positions; the order in which a file draws its letters plays no part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal

import numpy as np

from nekibu.files.parsers.sentences import BULLETS
from nekibu.files.parsers.tables import find_tables
from nekibu.files.parsers.words import Item, Table, Word, rows_of

LEAST_GUTTER = 8.0
LEAST_LINES = 3
CELL_GAP = 2.2

_MARKER = re.compile(
    rf"[{re.escape(BULLETS)}]|\W{{1,2}}|\d{{1,3}}(?:\.\d{{1,3}}){{0,3}}[.)]?|.*:|"
    r"[^\W\d_]{0,9}\.?\s*'?\d{2,4}(?:[./-]\d{1,4}){0,2}\.?(?:\s*(?:[-–—/]|to|ile)\s*(?:[^\W\d_]{1,9}\.?\s*'?)?(?:\d{2,4}(?:[./-]\d{1,4}){0,2})?\w*(?: \w+)?)?"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the reading order. Cells are apart by more than a blank; `region` numbers the column it stands in."""

    cells: tuple[tuple[Word, ...], ...]
    kind: Literal["line", "row"]
    region: int

    @property
    def words(self) -> list[Word]:
        """All words of all cells."""
        return [word for cell in self.cells for word in cell]


def read_in_order(
    words: Sequence[Word],
    across: Iterable[tuple[float, float, float]],
    down: Iterable[tuple[float, float, float]],
) -> list[Line]:
    """The lines of a page as a person reads them. `across` and `down` are its rules."""
    rules = list(across)
    tables, rest = find_tables(words, rules, list(down))
    reader = _Reader(rules)
    reader.read([*rest, *tables])
    return reader.lines


class _Reader:
    """Collects lines while it cuts the page into bands and columns."""

    def __init__(self, rules: list[tuple[float, float, float]]) -> None:
        self.rules = rules
        self.lines: list[Line] = []
        self.region = 0

    def read(self, items: Sequence[Item], depth: int = 0) -> None:
        """Read one region: bands that have columns by column, all else line by line."""
        rows = rows_of(items)
        if not rows:
            return
        size = median(item.size for item in items)
        cover = _Cover(rows)
        self.region += 1
        at = 0
        while at < len(rows):
            least = max(LEAST_GUTTER, 0.8 * size)
            band = cover.band(at, least) if depth < 6 else None
            if band is None:
                self._line(rows[at], depth)
                at += 1
                continue
            end, gutters = band
            first, last = _core(rows, at, end, gutters)
            inner = cover.gutters(first, last, least)
            if (
                inner
                and self._is_tabular(rows[first:last], inner)
                and _hangs_together(rows[first:last], inner)
            ):
                for row in rows[at:first]:
                    self._line(row, depth)
                for row in rows[first:last]:
                    self._row(row, inner)
                end = last
            else:
                self._columns(rows[at:end], gutters, depth)
            self.region += 1
            at = end

    def _columns(self, rows: list[list[Item]], gutters: list[tuple[float, float]], depth: int) -> None:
        if self._is_tabular(rows, gutters):
            for row in rows:
                self._row(row, gutters)
            return
        middle = _middle_of_widest(gutters)
        items = [item for row in rows for item in row]
        self.read([item for item in items if (item.x0 + item.x1) / 2 < middle], depth + 1)
        self.read([item for item in items if (item.x0 + item.x1) / 2 >= middle], depth + 1)

    def _is_tabular(self, rows: list[list[Item]], gutters: list[tuple[float, float]]) -> bool:
        """Rows belong together when one side only labels or dates the other, when rules cross, or when three cells line up."""
        if any(isinstance(item, Table) for row in rows for item in row):
            return False
        cells = [_split(row, gutters) for row in rows]
        if any(_annotates(cells, side) for side in range(len(gutters) + 1)):
            return True
        full = sum(1 for row in cells if all(row))
        if len(gutters) >= 2 and full >= 0.7 * len(rows):
            return True
        top, bottom = rows[0][0].base + rows[0][0].size, rows[-1][0].base - rows[-1][0].size
        crossing = {
            round(y)
            for x0, x1, y in self.rules
            if bottom <= y <= top and x0 < gutters[0][0] - 5 and x1 > gutters[0][1] + 5
        }
        return len(crossing) >= LEAST_LINES and full >= 0.6 * len(rows)

    def _row(self, row: list[Item], gutters: list[tuple[float, float]]) -> None:
        cells = [tuple(sorted(_words(cell), key=lambda w: w.x0)) for cell in _split(row, gutters)]
        filled = tuple(cell for cell in cells if cell)
        if len(filled) == 2 and len(filled[0]) == 1 and filled[0][0].text in BULLETS:
            self.lines.append(Line((filled[0] + filled[1],), "line", self.region))
            return
        self.lines.append(Line(filled, "row" if len(filled) > 1 else "line", self.region))

    def _line(self, row: list[Item], depth: int) -> None:
        for item in row:
            if isinstance(item, Table) and item.spread:
                for cell in item.rows[0]:
                    self.read(cell, depth + 1)
                self.region += 1
            elif isinstance(item, Table):
                self.lines += [Line(row_cells, "row", self.region) for row_cells in item.rows]
        words = sorted(_words(row), key=lambda w: w.x0)
        cells: list[list[Word]] = []
        for word in words:
            if cells and (
                word.x0 - cells[-1][-1].x1 <= CELL_GAP * max(word.size, cells[-1][-1].size)
                or (len(cells[-1]) == 1 and cells[-1][0].text in BULLETS)
            ):
                cells[-1].append(word)
            else:
                cells.append([word])
        if cells:
            self.lines.append(
                Line(tuple(map(tuple, cells)), "row" if len(cells) > 1 else "line", self.region)
            )


class _Cover:
    """Which points of the width each row covers, to find the gutter that a run of rows shares."""

    def __init__(self, rows: list[list[Item]]) -> None:
        self.left = min(item.x0 for row in rows for item in row)
        right = max(item.x1 for row in rows for item in row)
        self.grid = np.zeros((len(rows), max(int(right - self.left) + 2, 2)), dtype=bool)
        for line, row in zip(self.grid, rows, strict=True):
            for item in row:
                line[int(item.x0 - self.left) : int(item.x1 - self.left) + 1] = True

    def band(self, start: int, least: float) -> tuple[int, list[tuple[float, float]]] | None:
        """The longest run of rows from `start` that a gutter divides: its end and its gutters."""
        best: tuple[int, list[tuple[float, float]]] | None = None
        ink: np.ndarray[Any, np.dtype[np.bool_]] = np.zeros(self.grid.shape[1], dtype=bool)
        for end in range(start + 1, len(self.grid) + 1):
            ink |= self.grid[end - 1]
            free = _runs(~ink, least)
            if not free:
                break
            gutters = [(a, b) for a, b in free if self._divides(start, end, a, b)]
            if gutters:
                best = end, [(a + self.left, b + self.left) for a, b in gutters]
        return best

    def gutters(self, start: int, end: int, least: float) -> list[tuple[float, float]]:
        """Every gutter that these rows leave free, however few of them stand beside it."""
        ink: np.ndarray[Any, np.dtype[np.bool_]] = np.logical_or.reduce(self.grid[start:end])
        covered = np.flatnonzero(ink)
        if covered.size == 0:
            return []
        low, high = int(covered[0]), int(covered[-1])
        return [(a + self.left, b + self.left) for a, b in _runs(~ink, least) if low < a and b <= high]

    def _divides(self, start: int, end: int, a: int, b: int) -> bool:
        left = self.grid[start:end, :a].any(axis=1)
        right = self.grid[start:end, b:].any(axis=1)
        return int(left.sum()) >= LEAST_LINES and int(right.sum()) >= LEAST_LINES


def _core(
    rows: list[list[Item]], start: int, end: int, gutters: list[tuple[float, float]]
) -> tuple[int, int]:
    """The rows of a band from the first to the last that reach over its gutter.

    Short lines before and after a table without rules leave its gutter free too, and are none of its rows.
    """
    middle = _middle_of_widest(gutters)
    beyond = [at for at in range(start, end) if any((item.x0 + item.x1) / 2 >= middle for item in rows[at])]
    return beyond[0], beyond[-1] + 1


def _hangs_together(rows: list[list[Item]], gutters: list[tuple[float, float]]) -> bool:
    """Whether rows that begin with a date go on in one cell only; where two go on, they are columns of their own."""
    cells = [_split(row, gutters) for row in rows]
    for side in range(len(gutters) + 1):
        if _annotates(cells, side):
            going_on = {other for row in cells for other, cell in enumerate(row) if cell and not row[side]}
            return len(going_on) <= 1
    return True


def _middle_of_widest(gutters: list[tuple[float, float]]) -> float:
    widest = max(gutters, key=lambda gutter: (gutter[1] - gutter[0], -gutter[0]))
    return (widest[0] + widest[1]) / 2


def _annotates(cells: list[list[list[Item]]], side: int) -> bool:
    """Whether one side of a band dates, labels or numbers the lines beside it instead of being a column to read down.

    It does when its cells stand beside others and are dates, labels or bullets, or come in ones and twos between
    lines that have none, as a place and a date at the right edge do.
    """
    filled = [number for number, row in enumerate(cells) if row[side]]
    paired = sum(1 for number in filled if sum(map(bool, cells[number])) > 1)
    marks = sum(1 for number in filled if _MARKER.fullmatch(_text(cells[number][side])))
    if not filled or paired < 0.6 * len(filled):
        return False
    if marks >= 0.6 * len(filled):
        return True
    if paired < len(filled):
        return False
    stretches = 1 + sum(1 for one, other in pairwise(filled) if other != one + 1)
    scattered = stretches >= 2 and len(filled) <= 2.2 * stretches and len(filled) <= 0.7 * len(cells)
    return scattered or (marks >= 0.4 * len(filled) and stretches >= 2)


def _runs(free: np.ndarray[Any, np.dtype[np.bool_]], least: float) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], free, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least]


def _split(row: list[Item], gutters: list[tuple[float, float]]) -> list[list[Item]]:
    cells: list[list[Item]] = [[] for _ in range(len(gutters) + 1)]
    for item in row:
        middle = (item.x0 + item.x1) / 2
        cells[sum(1 for a, b in gutters if middle > (a + b) / 2)].append(item)
    return cells


def _words(items: Iterable[Item]) -> list[Word]:
    return [item for item in items if isinstance(item, Word)]


def _text(items: Iterable[Item]) -> str:
    return " ".join(word.text for word in sorted(_words(items), key=lambda w: w.x0))
