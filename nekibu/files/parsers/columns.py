"""Reading order from positions alone: whatever order a page was drawn in, each column is read whole, left before right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nekibu.files.parsers.base import Box

_DATES = re.compile(r"^[\d\s./–—-]*(\d{4}|\d{2}[./]\d{2})[\d\s./–—-]*(halen|present|devam\w*|günümüz|bugün|now|-)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Glyph:
    """One visible character with its box and size in points."""

    char: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one baseline with no wide gap between them."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float

    @property
    def middle(self) -> float:
        """Height of its middle."""
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Row:
    """Runs that share a baseline, left to right."""

    runs: tuple[Run, ...]

    @property
    def bbox(self) -> Box:
        """The box around all of it."""
        return (min(r.x0 for r in self.runs), min(r.y0 for r in self.runs), max(r.x1 for r in self.runs), max(r.y1 for r in self.runs))

    @property
    def text(self) -> str:
        """Cells separated by a tab."""
        return "\t".join(r.text for r in self.runs)


def reading_order(glyphs: Sequence[Glyph], rules: Sequence[float] = ()) -> list[Row]:
    """Rows in the order a person reads. `rules` are heights of ruled lines: what lies between them is a table, read by row."""
    return _order(_rows(_runs(glyphs)), rules)


def _runs(glyphs: Sequence[Glyph]) -> list[Run]:
    baselines: list[list[Glyph]] = []
    for glyph in sorted(glyphs, key=lambda g: (-(g.y0 + g.y1) / 2, g.x0)):
        middle = (glyph.y0 + glyph.y1) / 2
        home = next(
            (b for b in reversed(baselines[-6:]) if abs((b[0].y0 + b[0].y1) / 2 - middle) <= 0.35 * max(b[0].size, glyph.size, 1.0)), None
        )
        if home is None:
            baselines.append([glyph])
        else:
            home.append(glyph)
    runs: list[Run] = []
    for baseline in baselines:
        ordered = sorted(baseline, key=lambda g: g.x0)
        part: list[Glyph] = []
        for glyph in ordered:
            if part and glyph.x0 - part[-1].x1 > 1.3 * max(part[-1].size, 4.0) and not (glyph.char.isspace() and len(part) < 1):
                runs += _run(part)
                part = []
            part.append(glyph)
        runs += _run(part)
    return runs


def _run(part: Sequence[Glyph]) -> list[Run]:
    text, last = "", None
    for glyph in part:
        if last is not None and not glyph.char.isspace() and not text.endswith(" ") and glyph.x0 - last.x1 > 0.12 * max(glyph.size, 1.0):
            text += " "
        if not (glyph.char.isspace() and (not text or text.endswith(" "))):
            text += " " if glyph.char.isspace() else glyph.char
        last = glyph
    seen = [g for g in part if not g.char.isspace()]
    if not text.strip() or not seen:
        return []
    return [
        Run(text.strip(), min(g.x0 for g in seen), min(g.y0 for g in seen), max(g.x1 for g in seen), max(g.y1 for g in seen), max(g.size for g in seen))
    ]


def _rows(runs: Sequence[Run]) -> list[Row]:
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda r: (-r.middle, r.x0)):
        if rows and abs(rows[-1][0].middle - run.middle) <= 0.35 * max(rows[-1][0].size, run.size, 1.0):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [Row(tuple(sorted(row, key=lambda r: r.x0))) for row in rows]


def _order(rows: list[Row], rules: Sequence[float]) -> list[Row]:
    gutter = _gutter(rows, rules)
    if gutter is None:
        return rows
    ordered: list[Row] = []
    band: list[Row] = []

    def flush() -> None:
        left = [Row(tuple(r for r in row.runs if r.x1 <= gutter)) for row in band]
        right = [Row(tuple(r for r in row.runs if r.x0 >= gutter)) for row in band]
        for side in (left, right):
            ordered.extend(_order([row for row in side if row.runs], rules))
        band.clear()

    for row in rows:
        if any(r.x0 < gutter < r.x1 for r in row.runs):
            flush()
            ordered.append(row)
        else:
            band.append(row)
    flush()
    return ordered


def _gutter(rows: Sequence[Row], rules: Sequence[float]) -> float | None:
    """The x of a gap that separates two columns of at least three lines each, or None."""
    edges = sorted({round(run.x0, 1) for row in rows for run in row.runs})
    best: tuple[int, float] | None = None
    for edge in edges:
        x = edge - 2.0
        free = [row for row in rows if not any(r.x0 < x < r.x1 for r in row.runs)]
        left = [row for row in free if any(r.x1 <= x for r in row.runs)]
        right = [row for row in free if any(r.x0 >= x for r in row.runs)]
        if len(left) < 3 or len(right) < 3 or len(free) < 0.5 * len(rows):
            continue
        if _is_table(left, right, x, rules):
            continue
        starts = [r.x0 for row in right for r in row.runs if r.x0 >= x]
        aligned = sum(1 for s in starts if abs(s - edge) < 3.0)
        if aligned < 3 or not _overlap(left, right):
            continue
        score = aligned + min(len(left), len(right))
        if best is None or score > best[0]:
            best = (score, x)
    return best[1] if best else None


def _overlap(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Whether both sides stand beside each other over a good part of their height."""
    a = (min(r.bbox[1] for r in left), max(r.bbox[3] for r in left))
    b = (min(r.bbox[1] for r in right), max(r.bbox[3] for r in right))
    shared = min(a[1], b[1]) - max(a[0], b[0])
    return shared > 0.4 * min(a[1] - a[0], b[1] - b[0])


def _is_table(left: Sequence[Row], right: Sequence[Row], x: float, rules: Sequence[float]) -> bool:
    """Ruled lines between the rows, or a left side that is all dates, mean a table."""
    top, bottom = max(r.bbox[3] for r in left), min(r.bbox[1] for r in left)
    ruled = [y for y in rules if bottom <= y <= top]
    if len(ruled) >= max(2, len(left) // 3):
        return True
    cells = [run.text for row in left for run in row.runs if run.x1 <= x]
    return sum(bool(_DATES.match(cell.strip())) for cell in cells) > 0.6 * len(cells)
