"""What a parser returns: frozen values that travel as JSON, and the one exception that ends a reading."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in PDF points from the lower left corner of the page as it is shown."""

PieceKind = Literal["line", "paragraph", "row", "header"]
Quality = Literal["ok", "low", "needs_ocr", "hidden_text", "unreadable"]

MAX_BYTES = 10 * 1024 * 1024
MAX_PAGES = 40
MAX_CHARACTERS = 2_000_000

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: where its text stands in the whole, its size in points (0 where the format has none), its quality."""

    number: int
    start: int
    end: int
    width: float
    height: float
    quality: str
    kind: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, list item, table row or line that can be cited: `text[start:end]` is exactly the piece."""

    number: int
    page: int
    start: int
    end: int
    kind: PieceKind
    bbox: Box | None


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that no reader of the page sees, with the reason as a code and its place in words of the format."""

    page: int
    text: str
    reason: str
    location: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """One reading of one file. `text` is the canonical visible text; offsets count its code points."""

    media_type: str
    parser_id: str
    parser_version: str
    text: str
    pages: tuple[Page, ...]
    pieces: tuple[Piece, ...]
    hidden: tuple[Hidden, ...]
    findings: tuple[str, ...]
    quality: Quality
    reason: str
    chars: int

    def to_json(self) -> dict[str, Any]:
        """Plain values for the pipe between child and caller."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Parsed:
        """The inverse of `to_json`. Raises TypeError or KeyError when a field is missing or unknown."""
        return cls(
            **{
                **values,
                "pages": tuple(Page(**page) for page in values["pages"]),
                "pieces": tuple(
                    Piece(**{**piece, "bbox": tuple(piece["bbox"]) if piece["bbox"] else None})
                    for piece in values["pieces"]
                ),
                "hidden": tuple(Hidden(**hidden) for hidden in values["hidden"]),
                "findings": tuple(values["findings"]),
            }
        )


class Unreadable(Exception):
    """The file cannot or may not be read; `reason` is the code that the recruiter's page explains."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def unreadable(
    reason: str, media_type: str = "", parser_id: str = "none", parser_version: str = "1"
) -> Parsed:
    """The reading of a file that gave nothing."""
    return Parsed(media_type, parser_id, parser_version, "", (), (), (), (), "unreadable", reason, 0)
