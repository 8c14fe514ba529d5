"""What a renderer hands back: the file's bytes and where each line of the CV went."""

from __future__ import annotations

from dataclasses import dataclass

from samples.content import Line


@dataclass(frozen=True, slots=True)
class Shown:
    """One logical line as it stands in the file: its page and the physical lines it was broken into."""

    line: Line
    page: int
    parts: tuple[str, ...]
    scanned: bool = False


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that a person does not see, with the way it was hidden."""

    text: str
    page: int
    how: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished file; `shown` stands in the order a person reads it."""

    body: bytes
    media_type: str
    pages: int
    shown: tuple[Shown, ...]
    hidden: tuple[Hidden, ...] = ()
