"""What a parser says about a file: frozen values; offsets count code points of the canonical visible text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

QualityName = Literal["ok", "low", "needs_ocr", "hidden_text", "unreadable"]
Box = tuple[float, float, float, float]  # x0, y0, x1, y1 in points, origin at the bottom left


class CannotRead(Exception):  # noqa: N818  (it names what happened)
    """The file cannot be read; `reason` is a code: encrypted, corrupt, empty, too_large, unsupported_type, macros, …"""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that a reader would not see. It is no evidence; it is shown to the reviewer with its reason."""

    page: int | None
    text: str
    reason: str
    location: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One visible line, list item, paragraph or table row, in reading order."""

    text: str
    page: int | None = None
    bbox: Box | None = None
    kind: str = "line"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: where its text lies, its size in points, and how well it could be read."""

    number: int
    start: int
    end: int
    width: float
    height: float
    quality: QualityName
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Piece:
    """The unit of citation: a sentence, list item, line or table row. `text[start:end]` is its text."""

    number: int
    page: int | None
    start: int
    end: int
    kind: str
    bbox: Box | None


@dataclass(frozen=True, slots=True)
class PageLines:
    """What one page gave: its lines in reading order and its size."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    image_share: float = 0.0
    ocr_layer: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """The whole answer about one file."""

    media_type: str
    parser_id: str
    parser_version: str
    text: str
    pages: tuple[Page, ...]
    pieces: tuple[Piece, ...]
    hidden: tuple[Hidden, ...]
    findings: tuple[str, ...]
    quality: QualityName
    reason: str = ""
    chars: int = 0
