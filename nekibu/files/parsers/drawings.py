"""What a PDF page draws besides letters: fills and pictures with their order, rules, and the state of each text object."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
import pypdfium2.raw as raw

from nekibu.files.parsers.base import Box

Color = tuple[int, int, int]
Matrix = tuple[float, float, float, float, float, float]

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MOST_OBJECTS = 60_000
MOST_SEGMENTS = 4_000
DEEPEST_FORM = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """A fill or a picture at its place in the drawing order, on the shown page. `solid`: an opaque rectangle of one colour."""

    order: int
    box: Box
    color: Color
    solid: bool
    picture: bool
    opaque: bool


@dataclass(frozen=True, slots=True)
class Inked:
    """How a text object paints: order, colours of fill and stroke with alpha 0 to 255, render mode, clip box, font."""

    order: int
    fill: Color
    fill_alpha: int
    stroke: Color
    stroke_alpha: int
    mode: int
    clip: Box | None
    embedded: bool
    plain: bool


@dataclass(slots=True)
class Drawn:
    """Everything drawn on one page. Rules are thin lines: horizontal (x0, x1, y), vertical (y0, y1, x)."""

    shapes: list[Shape] = field(default_factory=list)
    inked: dict[int, Inked] = field(default_factory=dict)
    across: list[tuple[float, float, float]] = field(default_factory=list)
    down: list[tuple[float, float, float]] = field(default_factory=list)
    objects: int = 0
    segments: int = 0


def read_drawings(page: pypdfium2.PdfPage, matrix: Matrix) -> Drawn:
    """Walk the page's objects in drawing order, forms included; `matrix` leads to the shown page."""
    drawn = Drawn()
    _walk(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, matrix, None, 0, drawn)
    return drawn


def times(inner: Matrix, outer: Matrix) -> Matrix:
    """The matrix that applies `inner` first and `outer` second."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


def moved(box: Box, matrix: Matrix) -> Box:
    """The upright box around a box under a matrix."""
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def overlap(one: Box, other: Box) -> Box | None:
    """The common part of two boxes, if there is one."""
    box = max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])
    return box if box[0] < box[2] and box[1] < box[3] else None


def _walk(
    holder: Any,
    count: Callable[[Any], int],
    get: Callable[[Any, int], Any],
    matrix: Matrix,
    clip: Box | None,
    depth: int,
    drawn: Drawn,
) -> None:
    for index in range(max(count(holder), 0)):
        item = get(holder, index)
        if not item or drawn.objects >= MOST_OBJECTS:
            return
        drawn.objects += 1
        kind = raw.FPDFPageObj_GetType(item)
        own_clip = _narrowed(clip, _clip_of(item, matrix))
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            drawn.inked[address(item)] = _inked(item, drawn.objects, own_clip)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < DEEPEST_FORM:
            inner = times(_matrix_of(item), matrix)
            _walk(
                item,
                raw.FPDFFormObj_CountObjects,
                raw.FPDFFormObj_GetObject,
                inner,
                own_clip,
                depth + 1,
                drawn,
            )
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            _read_path(item, matrix, own_clip, drawn)
        elif kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING):
            box = _visible_part(item, matrix, own_clip)
            if box is not None:
                opaque = (
                    kind == raw.FPDF_PAGEOBJ_IMAGE
                    and not raw.FPDFPageObj_HasTransparency(item)
                    and not _masked(item)
                )
                drawn.shapes.append(
                    Shape(drawn.objects, box, (255, 255, 255), False, kind == raw.FPDF_PAGEOBJ_IMAGE, opaque)
                )


def address(item: Any) -> int:
    """The identity of a page object, the same through every door of pdfium."""
    return ctypes.addressof(item.contents)


def _inked(item: Any, order: int, clip: Box | None) -> Inked:
    fill, fill_alpha, plain = _color(raw.FPDFPageObj_GetFillColor, item)
    stroke, stroke_alpha, _ = _color(raw.FPDFPageObj_GetStrokeColor, item)
    font = raw.FPDFTextObj_GetFont(item)
    embedded = bool(font) and raw.FPDFFont_GetIsEmbedded(font) == 1
    mode = raw.FPDFTextObj_GetTextRenderMode(item)
    return Inked(order, fill, fill_alpha, stroke, stroke_alpha, mode, clip, embedded, plain)


def _color(getter: Callable[..., int], item: Any) -> tuple[Color, int, bool]:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    known = bool(getter(item, red, green, blue, alpha))
    return ((red.value, green.value, blue.value), alpha.value, True) if known else ((0, 0, 0), 255, False)


def _matrix_of(item: Any) -> Matrix:
    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, matrix):
        return IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _bounds(item: Any, matrix: Matrix) -> Box | None:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return None
    return moved((left.value, bottom.value, right.value, top.value), matrix)


def _visible_part(item: Any, matrix: Matrix, clip: Box | None) -> Box | None:
    box = _bounds(item, matrix)
    return overlap(box, clip) if box is not None and clip is not None else box


def _narrowed(outer: Box | None, own: Box | None) -> Box | None:
    if outer is None or own is None:
        return own if outer is None else outer
    return overlap(outer, own) or (0.0, 0.0, 0.0, 0.0)


def _clip_of(item: Any, matrix: Matrix) -> Box | None:
    """The box around the item's clip; each path of a clip cuts away from what the others leave."""
    clip = raw.FPDFPageObj_GetClipPath(item)
    paths = raw.FPDFClipPath_CountPaths(clip) if clip else -1
    box: Box | None = None
    for path in range(max(paths, 0)):
        count = raw.FPDFClipPath_CountPathSegments(clip, path)
        if not 0 < count < 200:
            continue
        points = [_point(raw.FPDFClipPath_GetPathSegment(clip, path, index)) for index in range(count)]
        if points:
            xs, ys = [x for x, _ in points], [y for _, y in points]
            box = _narrowed(box, moved((min(xs), min(ys), max(xs), max(ys)), matrix))
    return box


def _point(segment: Any) -> tuple[float, float]:
    x, y = ctypes.c_float(), ctypes.c_float()
    raw.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def _masked(item: Any) -> bool:
    """Whether a picture lets something shine through. Pictures too large to look at count as opaque."""
    width, height = ctypes.c_uint(), ctypes.c_uint()
    if not raw.FPDFImageObj_GetImagePixelSize(item, width, height) or width.value * height.value > 16_000_000:
        return False
    bitmap = raw.FPDFImageObj_GetBitmap(item)
    if not bitmap:
        return True
    try:
        return bool(raw.FPDFBitmap_GetFormat(bitmap) == raw.FPDFBitmap_BGRA)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)


def _read_path(item: Any, matrix: Matrix, clip: Box | None, drawn: Drawn) -> None:
    box = _visible_part(item, matrix, clip)
    if box is None:
        return
    fill_mode, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, fill_mode, stroke)
    count = max(raw.FPDFPath_CountSegments(item), 0)
    own = times(_matrix_of(item), matrix)
    lines = _lines(item, count, own, drawn) if count <= 400 and drawn.segments < MOST_SEGMENTS else None
    width, height = box[2] - box[0], box[3] - box[1]
    if fill_mode.value:
        color, alpha, plain = _color(raw.FPDFPageObj_GetFillColor, item)
        upright = lines is not None and count <= 6 and all(_upright(line) for line in lines)
        opaque = alpha == 255 and plain and not raw.FPDFPageObj_HasTransparency(item)
        if alpha and width * height > 4:
            drawn.shapes.append(
                Shape(drawn.objects, box, color, upright and opaque, False, upright and opaque)
            )
        if height <= 2.5 and width >= 12:
            drawn.across.append((box[0], box[2], (box[1] + box[3]) / 2))
        if width <= 2.5 and height >= 6:
            drawn.down.append((box[1], box[3], (box[0] + box[2]) / 2))
    if stroke.value and lines is not None:
        for (x0, y0), (x1, y1) in lines:
            if abs(y0 - y1) <= 1 and abs(x0 - x1) >= 12:
                drawn.across.append((min(x0, x1), max(x0, x1), (y0 + y1) / 2))
            elif abs(x0 - x1) <= 1 and abs(y0 - y1) >= 6:
                drawn.down.append((min(y0, y1), max(y0, y1), (x0 + x1) / 2))


Line = tuple[tuple[float, float], tuple[float, float]]


def _lines(item: Any, count: int, matrix: Matrix, drawn: Drawn) -> list[Line] | None:
    """The straight strokes of a path on the shown page; None when it has a curve."""
    drawn.segments += count
    lines: list[Line] = []
    first = last = (0.0, 0.0)
    a, b, c, d, e, f = matrix
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_BEZIERTO:
            return None
        x, y = _point(segment)
        point = (a * x + c * y + e, b * x + d * y + f)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = point
        else:
            lines.append((last, point))
        last = point
        if raw.FPDFPathSegment_GetClose(segment) and last != first:
            lines.append((last, first))
    return lines


def _upright(line: Line) -> bool:
    (x0, y0), (x1, y1) = line
    return abs(x0 - x1) < 0.5 or abs(y0 - y1) < 0.5
