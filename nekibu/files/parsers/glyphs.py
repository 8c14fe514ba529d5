"""The letters of a PDF page in drawing order: character, place as the page is shown, and why it is hidden, if it is."""

from __future__ import annotations

import ctypes
import math
import unicodedata
from dataclasses import dataclass, replace

import pypdfium2
import pypdfium2.raw as raw

from nekibu.files.parsers.base import Box, Unreadable
from nekibu.files.parsers.drawings import Drawn, Inked, Matrix, address, moved

MOST_GLYPHS = 100_000
_LIGATURES = {"ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "ffi": "ﬃ", "ffl": "ﬄ", "st": "ﬆ"}


@dataclass(slots=True)
class Glyph:
    """One letter. `box` (with its surroundings), `tight` (ink only) and `shown` are upright boxes on the shown page,
    `x` and `y` the start of its baseline. `turned` moves all but `shown` to where they stood if the text were level."""

    char: str
    box: Box
    tight: Box
    x: float
    y: float
    size: float
    angle: int
    ink: Inked | None
    reason: str = ""
    shown: Box = (0.0, 0.0, 0.0, 0.0)

    def turned(self) -> Glyph:
        """The same letter in a frame in which its line runs level from left to right."""
        if self.angle == 0:
            return self
        way = math.radians(-self.angle)
        matrix = (math.cos(way), math.sin(way), -math.sin(way), math.cos(way), 0.0, 0.0)
        x, y = self.x * matrix[0] + self.y * matrix[2], self.x * matrix[1] + self.y * matrix[3]
        return replace(self, box=moved(self.box, matrix), tight=moved(self.tight, matrix), x=x, y=y)


@dataclass(frozen=True, slots=True)
class Frame:
    """The shown page: its size, and the matrix from the file's coordinates to it (crop and rotation undone)."""

    width: float
    height: float
    matrix: Matrix


def frame_of(page: pypdfium2.PdfPage) -> Frame:
    """How this page is shown."""
    bounds = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page.raw, bounds)
    left, bottom, right, top = bounds.left, bounds.bottom, bounds.right, bounds.top
    if right - left <= 0 or top - bottom <= 0:
        left, bottom = 0.0, 0.0
        right, top = page.get_size()
    width, height = right - left, top - bottom
    matrices: dict[int, Matrix] = {
        0: (1, 0, 0, 1, -left, -bottom),
        90: (0, -1, 1, 0, -bottom, right),
        180: (-1, 0, 0, -1, right, top),
        270: (0, 1, -1, 0, top, -left),
    }
    rotation = page.get_rotation()
    if rotation in (90, 270):
        width, height = height, width
    return Frame(width, height, matrices[rotation])


def read_glyphs(text_page: pypdfium2.PdfTextPage, frame: Frame, drawn: Drawn) -> list[Glyph]:
    """All letters and blanks of the page. A letter without a meaning is U+FFFD; what pdfium made up is a blank."""
    handle = text_page.raw
    count = raw.FPDFText_CountChars(handle)
    if count > MOST_GLYPHS:
        raise Unreadable("too_large")
    glyphs: list[Glyph] = []
    matrix = raw.FS_MATRIX()
    held = ""
    for index in range(max(count, 0)):
        code = raw.FPDFText_GetUnicode(handle, index)
        if 0xD800 <= code < 0xDC00:
            held = chr(code)
            continue
        char = _meaning(held, code, handle, index)
        held = ""
        if raw.FPDFText_IsGenerated(handle, index) == 1:
            glyphs.append(
                Glyph("\n" if char == "\n" else " ", (0, 0, 0, 0), (0, 0, 0, 0), 0, 0, 0, 0, None, "made_up")
            )
            continue
        raw.FPDFText_GetMatrix(handle, index, matrix)
        placed = (matrix.a, matrix.b, matrix.c, matrix.d)
        item = raw.FPDFText_GetTextObject(handle, index)
        ink = drawn.inked.get(address(item)) if item else None
        tight = moved(_tight(handle, index), frame.matrix)
        x, y = _origin(handle, index, frame.matrix)
        size = abs(raw.FPDFText_GetFontSize(handle, index))
        scale = min(math.hypot(placed[0], placed[1]), math.hypot(placed[2], placed[3]))
        loose = _loose(handle, index, frame.matrix, tight)
        glyphs.append(
            Glyph(char, loose, tight, x, y, size * scale, _angle(placed, frame.matrix), ink, "", loose)
        )
    return _ligated(glyphs)


def _ligated(glyphs: list[Glyph]) -> list[Glyph]:
    """pdfium spells a ligature out as letters in one box; the text keeps the one sign that stands on the page."""
    kept: list[Glyph] = []
    for glyph in glyphs:
        last = kept[-1] if kept else None
        if (
            last is not None
            and last.ink is glyph.ink
            and last.tight == glyph.tight
            and last.x == glyph.x
            and not glyph.reason
        ):
            spelled = unicodedata.normalize("NFKC", last.char) + glyph.char
            if spelled in _LIGATURES:
                last.char = _LIGATURES[spelled]
                continue
        kept.append(glyph)
    return kept


def _meaning(held: str, code: int, handle: object, index: int) -> str:
    if 0xDC00 <= code < 0xE000:
        return (
            (held + chr(code)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if held
            else "\ufffd"
        )
    if code in (0x02, 0xFFFE, 0xAD) and raw.FPDFText_IsHyphen(handle, index) == 1:
        return "-"
    if code in (0x09, 0x0A, 0x0D, 0xA0):
        return "\n" if code == 0x0A else " "
    if code < 0x20 or 0x7F <= code < 0xA0 or code in (0xFFFE, 0xFFFF) or code > 0x10FFFF:
        return "\ufffd"
    return chr(code)


def _tight(handle: object, index: int) -> Box:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(handle, index, left, right, bottom, top)
    return left.value, bottom.value, right.value, top.value


def _loose(handle: object, index: int, matrix: Matrix, tight: Box) -> Box:
    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(handle, index, rect):
        return tight
    box = moved((rect.left, rect.bottom, rect.right, rect.top), matrix)
    return box if box[0] < box[2] and box[1] < box[3] else tight


def _origin(handle: object, index: int, matrix: Matrix) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(handle, index, x, y)
    a, b, c, d, e, f = matrix
    return a * x.value + c * y.value + e, b * x.value + d * y.value + f


def _angle(placed: tuple[float, float, float, float], matrix: Matrix) -> int:
    """The direction of writing on the shown page in whole degrees, near-level text levelled."""
    along_x = placed[0] * matrix[0] + placed[1] * matrix[2]
    along_y = placed[0] * matrix[1] + placed[1] * matrix[3]
    degrees = round(math.degrees(math.atan2(along_y, along_x))) % 360
    for level in (0, 90, 180, 270, 360):
        if abs(degrees - level) <= 4:
            return level % 360
    return degrees
