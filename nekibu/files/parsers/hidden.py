"""Which letters of a PDF page a reader does not see: by how they are painted, where they stand and what lies over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import pypdfium2

from nekibu.files.parsers.base import Box, Hidden
from nekibu.files.parsers.drawings import Color, Drawn, Inked, Shape, overlap
from nekibu.files.parsers.glyphs import Frame, Glyph
from nekibu.files.parsers.unseen import kind_of, spelled

LEAST_CONTRAST = 1.1
LEAST_SIZE = 3.0
FAINTEST_ALPHA = 12
LAYER_SHARE = 0.8
VISIBLE_TEXT = 50
_WHITE: Color = (255, 255, 255)
_MODES_OF_STROKE = (1, 5)
_MODES_OF_BOTH = (2, 6)
_MODES_UNSEEN = (3, 7)
_MOST_PIXELS = 4_000_000
_SHARES = np.arange(256) / 255
_LINEAR = np.where(_SHARES <= 0.04045, _SHARES / 12.92, ((_SHARES + 0.055) / 1.055) ** 2.4).astype(np.float32)


class Raster:
    """The page as it is painted, drawn only when a question needs it."""

    def __init__(self, page: pypdfium2.PdfPage, frame: Frame) -> None:
        self.page, self.frame = page, frame
        area = max(frame.width * frame.height, 1.0)
        self.scale = min(1.5, (_MOST_PIXELS / area) ** 0.5)

    @cached_property
    def luminance(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Relative luminance of each pixel."""
        pixels = self.page.render(scale=self.scale).to_numpy()
        blue, green, red = (pixels[:, :, channel] for channel in range(3))
        return (
            _LINEAR[red] * np.float32(0.2126)
            + _LINEAR[green] * np.float32(0.7152)
            + _LINEAR[blue] * np.float32(0.0722)
        )

    def within(self, box: Box) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The luminances inside a box of the shown page; empty outside the page."""
        rows, columns = self.luminance.shape
        top = max(int((self.frame.height - box[3]) * self.scale), 0)
        bottom = min(int((self.frame.height - box[1]) * self.scale) + 1, rows)
        left, right = max(int(box[0] * self.scale), 0), min(int(box[2] * self.scale) + 1, columns)
        return self.luminance[top:bottom, left:right]


def mark_hidden(glyphs: list[Glyph], drawn: Drawn, frame: Frame, raster: Raster) -> bool:
    """Set `reason` on every hidden letter. Returns whether the page is a scan whose letters are its OCR layer."""
    shapes_of: dict[int, list[Shape]] = {}
    for glyph in glyphs:
        glyph.reason = glyph.reason or kind_of(glyph.char)
    boxes = _boxes_by_ink(glyphs)
    for glyph in glyphs:
        if glyph.reason or glyph.ink is None:
            continue
        order = glyph.ink.order
        if order not in shapes_of:
            shapes_of[order] = [shape for shape in drawn.shapes if overlap(shape.box, boxes[order])]
        glyph.reason = _reason(glyph, glyph.ink, shapes_of[order], frame, raster)
    if _is_ocr_layer(glyphs, drawn, frame):
        for glyph in glyphs:
            if glyph.reason in ("render_mode", "covered"):
                glyph.reason = ""
        return True
    _mark_unpainted(glyphs, raster)
    return False


def hidden_segments(glyphs: list[Glyph], page: int) -> Iterator[Hidden]:
    """The hidden letters as readable stretches, in drawing order."""
    stretch: list[Glyph] = []
    for glyph in glyphs:
        if glyph.reason == "made_up" or (not glyph.reason and glyph.char.isspace()):
            if stretch:
                stretch.append(glyph)
            continue
        if stretch and glyph.reason != _first_reason(stretch):
            yield from _segment(stretch, page)
            stretch = []
        if glyph.reason:
            stretch.append(glyph)
    yield from _segment(stretch, page)


def luminance_of(color: Color) -> float:
    """Relative luminance of an sRGB colour (WCAG 2)."""
    red, green, blue = (float(_LINEAR[value]) for value in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: float, other: float) -> float:
    """The contrast ratio of two luminances, from 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def picture_share(drawn: Drawn, frame: Frame) -> float:
    """The part of the page that its pictures cover; scanners cut a page into strips."""
    area = max(frame.width * frame.height, 1.0)
    parts = {overlap(shape.box, (0, 0, frame.width, frame.height)) for shape in drawn.shapes if shape.picture}
    return min(sum((box[2] - box[0]) * (box[3] - box[1]) / area for box in parts if box), 1.0)


def _boxes_by_ink(glyphs: Iterable[Glyph]) -> dict[int, Box]:
    boxes: dict[int, Box] = {}
    for glyph in glyphs:
        if glyph.ink is not None:
            boxes[glyph.ink.order] = union(boxes.get(glyph.ink.order, glyph.box), glyph.box)
    return boxes


def union(one: Box, other: Box) -> Box:
    """The upright box around two boxes."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _reason(glyph: Glyph, ink: Inked, shapes: list[Shape], frame: Frame, raster: Raster) -> str:
    x, y = (glyph.tight[0] + glyph.tight[2]) / 2, (glyph.tight[1] + glyph.tight[3]) / 2
    if ink.mode in _MODES_UNSEEN:
        return "render_mode"
    if not (0 <= x <= frame.width and 0 <= y <= frame.height):
        return "off_page"
    if ink.clip is not None and not _inside(ink.clip, x, y):
        return "clipped"
    if glyph.size < LEAST_SIZE:
        return "size"
    if all(alpha <= FAINTEST_ALPHA for _, alpha in _paints(ink)):
        return "opacity"
    over = [
        shape for shape in shapes if shape.order > ink.order and shape.opaque and _inside(shape.box, x, y)
    ]
    if over:
        return "covered"
    if ink.plain and _fades(glyph, ink, shapes, x, y, raster):
        return "colour"
    return ""


def _paints(ink: Inked) -> list[tuple[Color, int]]:
    if ink.mode in _MODES_OF_STROKE:
        return [(ink.stroke, ink.stroke_alpha)]
    if ink.mode in _MODES_OF_BOTH:
        return [(ink.fill, ink.fill_alpha), (ink.stroke, ink.stroke_alpha)]
    return [(ink.fill, ink.fill_alpha)]


def _fades(glyph: Glyph, ink: Inked, shapes: list[Shape], x: float, y: float, raster: Raster) -> bool:
    """Whether the letter has the colour of what lies under it; under pictures and patterns the painted page decides."""
    under = [shape for shape in shapes if shape.order < ink.order and _inside(shape.box, x, y)]
    last = under[-1] if under else None
    if last is None or last.solid:
        ground = last.color if last else _WHITE
        return all(_blended_contrast(color, alpha, ground) <= LEAST_CONTRAST for color, alpha in _paints(ink))
    seen = raster.within(glyph.tight)
    if seen.size == 0:
        return False
    return all(
        contrast(luminance_of(color), float(seen.min())) <= LEAST_CONTRAST
        and contrast(luminance_of(color), float(seen.max())) <= LEAST_CONTRAST
        for color, _ in _paints(ink)
    )


@lru_cache(maxsize=4096)
def _blended_contrast(color: Color, alpha: int, ground: Color) -> float:
    share = alpha / 255
    red, green, blue = (round(c * share + g * (1 - share)) for c, g in zip(color, ground, strict=True))
    return contrast(luminance_of((red, green, blue)), luminance_of(ground))


def _inside(box: Box, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _is_ocr_layer(glyphs: list[Glyph], drawn: Drawn, frame: Frame) -> bool:
    """Unpainted letters on a page-wide picture without written text beside them are what a scanner's OCR wrote."""
    if picture_share(drawn, frame) < LAYER_SHARE:
        return False
    letters = [glyph for glyph in glyphs if not glyph.char.isspace()]
    written = sum(not glyph.reason for glyph in letters)
    unpainted = sum(glyph.reason in ("render_mode", "covered") for glyph in letters)
    return unpainted > 0 and written < VISIBLE_TEXT and written <= unpainted


def _mark_unpainted(glyphs: list[Glyph], raster: Raster) -> None:
    """Letters of a text object that leaves no trace on the painted page (a switched-off layer, an empty clip)."""
    if raster.scale < 1:
        return
    visible = sorted(
        (g for g in glyphs if not g.reason and g.ink and g.ink.embedded and not g.char.isspace()), key=_order
    )
    for _, group in groupby(visible, key=_order):
        members = list(group)
        if not any(_painted(raster, glyph) for glyph in members):
            for glyph in members:
                glyph.reason = "unpainted"


def _order(glyph: Glyph) -> int:
    return glyph.ink.order if glyph.ink else 0


def _painted(raster: Raster, glyph: Glyph) -> bool:
    x0, y0, x1, y1 = glyph.tight
    seen = raster.within((x0 - 1, y0 - 1, x1 + 1, y1 + 1))
    return seen.size == 0 or contrast(float(seen.min()), float(seen.max())) > 1.02


def _first_reason(stretch: list[Glyph]) -> str:
    return next((glyph.reason for glyph in stretch if glyph.reason not in ("", "made_up")), "")


def _segment(stretch: list[Glyph], page: int) -> Iterator[Hidden]:
    run = "".join(glyph.char for glyph in stretch)
    text = (
        spelled(run.strip())
        if _first_reason(stretch) in ("zero_width", "bidi", "tag")
        else " ".join(run.split())
    )
    placed = [glyph for glyph in stretch if glyph.reason not in ("", "made_up")]
    if not text or not placed:
        return
    box = placed[0].box
    for glyph in placed[1:]:
        box = union(box, glyph.box)
    yield Hidden(page, text, placed[0].reason, "box " + " ".join(f"{value:.1f}" for value in box))
