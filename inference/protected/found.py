"""What a family finds in one clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nekibu.language.numbers import Asked

Writing = Asked


@dataclass(frozen=True, slots=True)
class Found:
    """A field in a clause. Several readings, or a doubt about the only one, make it ambiguous."""

    kind: str
    start: int
    end: int
    readings: tuple[str, ...]
    doubtful: bool = False


Family = Callable[[str, Writing], Iterator[Found]]
