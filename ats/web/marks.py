"""A CV's text with the cited places marked: pure text in, escaped markup out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


@dataclass(frozen=True, slots=True)
class Place:
    """A cited span; offsets count code points. `label` says what it is cited for."""

    start: int
    end: int
    against: bool
    label: str

    @property
    def id(self) -> str:
        """The anchor; the same span cited twice is one place."""
        return anchor(self.start, self.end)


def anchor(start: int, end: int) -> str:
    """The id of a span's mark in the page."""
    return f"ev-{start}-{end}"


def marked(text: str, places: Iterable[Place], pieces: Iterable[tuple[str, int]] = ()) -> SafeString:
    """The text, escaped, with `<mark>` around every cited character.

    Overlapping places are cut at each other's edges, so marks never cross. Each place's id stands exactly once, at its
    beginning; `data-evidence` lists all places that a mark belongs to. `pieces` are (number, start): each gets a button
    with its number, which a page shows while somebody chooses passages.
    """
    held = sorted({p for p in places if 0 <= p.start < p.end <= len(text)}, key=lambda p: (p.start, -p.end))
    numbers = {start: number for number, start in pieces if 0 <= start < len(text)}
    edges = sorted({0, len(text), *(p.start for p in held), *(p.end for p in held), *numbers})
    return format_html_join(
        "",
        "{}{}",
        (
            (_number(numbers.get(a)), _segment(text[a:b], a, [p for p in held if p.start <= a < p.end]))
            for a, b in pairwise(edges)
        ),
    )


def _number(number: str | None) -> SafeString | str:
    if number is None:
        return ""
    return format_html('<button type="button" class="piece" data-piece="{}">{}</button>', number, number)


def _segment(part: str, at: int, covering: list[Place]) -> SafeString | str:
    if not covering:
        return part
    ids = list(dict.fromkeys(p.id for p in covering))
    begun = list(dict.fromkeys(p.id for p in covering if p.start == at))
    tone = "counter" if all(p.against for p in covering) else "evidence"
    title = " · ".join(dict.fromkeys(p.label for p in covering))
    more = format_html_join("", '<span id="{}"></span>', ((i,) for i in begun[1:]))
    if begun:
        return format_html(
            '<mark id="{}" data-evidence="{}" data-tone="{}" title="{}">{}{}</mark>',
            begun[0],
            " ".join(ids),
            tone,
            title,
            more,
            part,
        )
    return format_html(
        '<mark data-evidence="{}" data-tone="{}" title="{}">{}</mark>', " ".join(ids), tone, title, part
    )
