"""Ruled tables: cells from the lines that are drawn, each row of the table one line of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nekibu.files.parsers.words import Table, Word, rows_of

Rule = tuple[float, float, float]
"""start, end, position on the other axis"""

_NEAR = 2.5
_MOST_RULES = 600
_MOST_LINES_IN_CELL = 15


@dataclass(frozen=True, slots=True)
class _Grid:
    xs: list[float]
    ys: list[float]
    across: list[Rule]
    down: list[Rule]


def find_tables(
    words: Sequence[Word], across: list[Rule], down: list[Rule]
) -> tuple[list[Table], list[Word]]:
    """The ruled tables of a page and the words outside them."""
    rest = list(words)
    tables: list[Table] = []
    for grid in _grids(across, down):
        inside = [
            w
            for w in rest
            if grid.xs[0] < (w.x0 + w.x1) / 2 < grid.xs[-1] and grid.ys[0] < _middle(w) < grid.ys[-1]
        ]
        for table in _rows(grid, inside):
            tables.append(table)
            members = {id(word) for row in table.rows for cell in row for word in cell}
            rest = [word for word in rest if id(word) not in members]
    return tables, rest


def _middle(word: Word) -> float:
    return word.base + 0.3 * word.size


def _rows(grid: _Grid, words: list[Word]) -> list[Table]:
    """Neighbouring rows that hold at least two filled cells, as tables; a row with a long cell is spread out."""
    found: list[Table] = []
    run: list[tuple[tuple[Word, ...], ...]] = []
    for low, high in reversed(list(zip(grid.ys, grid.ys[1:], strict=False))):
        members = [word for word in words if low < _middle(word) < high]
        cells = _cells(grid, members, (low + high) / 2)
        row = tuple(_in_lines(cell) for cell in cells)
        spread = any(len(rows_of(cell)) > _MOST_LINES_IN_CELL for cell in cells)
        if len(cells) >= 2 and not spread:
            run.append(row)
            continue
        found += _table(grid, run)
        run = []
        if len(cells) >= 2:
            found += _table(grid, [row], spread=True)
    return found + _table(grid, run)


def _table(grid: _Grid, rows: list[tuple[tuple[Word, ...], ...]], *, spread: bool = False) -> list[Table]:
    if not rows:
        return []
    first = max((cell[0] for cell in rows[0]), key=lambda word: word.base)
    return [Table(tuple(rows), grid.xs[0], grid.xs[-1], first.base, first.size, spread)]


def _cells(grid: _Grid, words: list[Word], level: float) -> list[list[Word]]:
    """The filled cells of one row; only rules that stand at its height part it."""
    walls = sorted({round(x, 1) for y0, y1, x in grid.down if y0 - _NEAR <= level <= y1 + _NEAR})
    cells: dict[int, list[Word]] = {}
    for word in words:
        cells.setdefault(sum(1 for wall in walls if (word.x0 + word.x1) / 2 > wall), []).append(word)
    return [cells[place] for place in sorted(cells)]


def _in_lines(cell: list[Word]) -> tuple[Word, ...]:
    return tuple(
        word for row in rows_of(cell) for word in sorted(row, key=lambda w: w.x0) if isinstance(word, Word)
    )


def _grids(across: list[Rule], down: list[Rule]) -> list[_Grid]:
    """Groups of touching rules with at least two columns."""
    if not across or len(down) < 3 or len(across) + len(down) > _MOST_RULES:
        return []
    parent = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for i, (x0, x1, y) in enumerate(across):
        for j, (y0, y1, x) in enumerate(down, start=len(across)):
            if x0 - _NEAR <= x <= x1 + _NEAR and y0 - _NEAR <= y <= y1 + _NEAR:
                parent[root(i)] = root(j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for index in range(len(parent)):
        lines = groups.setdefault(root(index), ([], []))
        (
            lines[0].append(across[index])
            if index < len(across)
            else lines[1].append(down[index - len(across)])
        )
    grids = []
    for flat, steep in groups.values():
        if not flat:
            continue
        xs, ys = _levels([x for *_, x in steep]), _row_levels(flat)
        if len(xs) >= 3 and len(ys) >= 2:
            grids.append(_Grid(xs, ys, flat, steep))
    return sorted(grids, key=lambda grid: -grid.ys[-1])


def _levels(values: list[float]) -> list[float]:
    levels: list[float] = []
    for value in sorted(values):
        if not levels or value - levels[-1] > _NEAR:
            levels.append(value)
    return levels


def _row_levels(flat: list[Rule]) -> list[float]:
    """Heights where rules run over most of the width: a rule under one cell only does not part a row."""
    width = max(x1 for _, x1, _ in flat) - min(x0 for x0, *_ in flat)
    levels = []
    for level in _levels([y for *_, y in flat]):
        spans = sorted((x0, x1) for x0, x1, y in flat if abs(y - level) <= _NEAR)
        covered, reach = 0.0, spans[0][0]
        for x0, x1 in spans:
            covered += max(0.0, x1 - max(x0, reach))
            reach = max(reach, x1)
        if covered >= 0.6 * width:
            levels.append(level)
    return levels
