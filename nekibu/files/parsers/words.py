"""Letters into words and words into rows, by their distances alone; blanks in the file are only a hint."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median
from typing import Any

from nekibu.files.parsers.glyphs import Glyph

WORD_GAP = 0.18
LEAST_SPACED = 5


@dataclass(frozen=True, slots=True)
class Word:
    """Letters without a blank between them; `base` is the baseline."""

    glyphs: tuple[Glyph, ...]
    x0: float
    x1: float
    base: float
    size: float

    @property
    def text(self) -> str:
        """The letters."""
        return "".join(glyph.char for glyph in self.glyphs)


@dataclass(frozen=True, slots=True)
class Table:
    """A ruled table that stands in the page like one big word: its rows are already lines.

    A `spread` one is a single row whose cells are too long for a line: each is read like a column of its own.
    """

    rows: tuple[tuple[tuple[Word, ...], ...], ...]
    x0: float
    x1: float
    base: float
    size: float
    spread: bool = False


Item = Word | Table


def words_of(glyphs: Sequence[Glyph]) -> tuple[list[Word], bool]:
    """Letters into words by their distances. Second: whether blanks stood inside words, which broken text layers have."""
    words: list[Word] = []
    torn = False
    spaces = sorted((g.y, g.x) for g in glyphs if g.char.isspace())
    for row in _by_baseline([g for g in glyphs if not g.char.isspace()], lambda g: g.y, lambda g: g.size):
        level = _undoubled(sorted(row, key=lambda g: (g.x, g.box[0])))
        blanks = _blanks_near(spaces, level)
        current: list[Glyph] = []
        begun = len(words)
        for glyph in level:
            if current:
                last = current[-1]
                size = max(last.size, glyph.size)
                gap = glyph.box[0] - last.box[2]
                blank = any(last.x < x <= glyph.x for x in blanks)
                torn = torn or (blank and gap < 0.02 * size and glyph.char.isalpha() and last.char.isalpha())
                if gap > WORD_GAP * size or (blank and gap >= 0.02 * size) or gap < -1.5 * size:
                    words.append(_word(current))
                    current = []
            current.append(glyph)
        if current:
            words.append(_word(current))
        words[begun:] = _closed_up(words[begun:])
    return words, torn


def _closed_up(words: list[Word]) -> list[Word]:
    """Words of a heading set wide (`D E N E Y İ M`) as words: single capitals at one distance belong together."""
    closed: list[Word] = []
    place = 0
    while place < len(words):
        end = place
        while end < len(words) and _is_capital(words[end]) and abs(words[end].size - words[place].size) < 0.5:
            end += 1
        run = words[place:end]
        letters = [word.text for word in run]
        if len(run) < LEAST_SPACED or letters == sorted(letters):
            closed += words[place : max(end, place + 1)]
            place = max(end, place + 1)
            continue
        gaps = [other.x0 - one.x1 for one, other in pairwise(run)]
        usual = median(gaps)
        group = [run[0]]
        for gap, word in zip(gaps, run[1:], strict=True):
            if gap > 1.5 * usual or gap > 2 * word.size:
                closed.append(_word([glyph for member in group for glyph in member.glyphs]))
                group = []
            group.append(word)
        closed.append(_word([glyph for member in group for glyph in member.glyphs]))
        place = end
    return closed


def _is_capital(word: Word) -> bool:
    return len(word.glyphs) == 1 and word.text.isalpha() and word.text.isupper()


def rows_of(items: Sequence[Item]) -> list[list[Item]]:
    """Words on one baseline, from the top of the page down."""
    return _by_baseline(
        items, lambda item: item.base, lambda item: item.size if isinstance(item, Word) else 1.0
    )


def _by_baseline(
    things: Sequence[Any], base: Callable[[Any], float], size: Callable[[Any], float]
) -> list[list[Any]]:
    rows: list[list[Any]] = []
    anchor = 0.0
    for thing in sorted(things, key=lambda t: (-base(t), t.x0 if hasattr(t, "x0") else t.x)):
        if rows and anchor - base(thing) <= 0.3 * max(min(size(thing), size(rows[-1][0])), 1.0):
            rows[-1].append(thing)
        else:
            rows.append([thing])
            anchor = base(thing)
    return rows


def _undoubled(level: list[Glyph]) -> list[Glyph]:
    """Without the second print of letters that are drawn twice to look bold."""
    kept: list[Glyph] = []
    for glyph in level:
        twins = (g for g in kept[-4:] if g.char == glyph.char)
        if not any(
            abs(g.x - glyph.x) < 0.1 * glyph.size
            and abs(g.y - glyph.y) < 0.15 * glyph.size
            and g.ink is not glyph.ink
            for g in twins
        ):
            kept.append(glyph)
    return kept


def _blanks_near(spaces: list[tuple[float, float]], level: list[Glyph]) -> list[float]:
    """Where blanks stand on this line. `spaces` is sorted by height."""
    low, high = min(g.y for g in level) - 1, max(g.y for g in level) + 1
    return [x for _, x in spaces[bisect_left(spaces, (low, -inf)) : bisect_right(spaces, (high, inf))]]


def _word(glyphs: list[Glyph]) -> Word:
    size = median(glyph.size for glyph in glyphs)
    base = median(glyph.y for glyph in glyphs)
    return Word(tuple(glyphs), min(g.box[0] for g in glyphs), max(g.box[2] for g in glyphs), base, size)
