"""The places of a CV that a criterion rests on: what a rule says of a text, and the numbered pieces that its places touch."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from ats.models import Criterion
from ats.rules import Judgement, Span, judge
from nekibu.files.models import ParsedText

UNREAD = {"page_needs_ocr", "page_unread", "part_unread", "glyphs_lost"}


def wholly_read(parsed: ParsedText) -> bool:
    """Whether the text is all that the file says."""
    return UNREAD.isdisjoint(parsed.findings)


def rule_word(criterion: Criterion, parsed: ParsedText, as_of: date) -> Judgement | None:
    """What the rule of a criterion says of a text; None where no rule judges it."""
    if criterion.method != Criterion.Method.RULE or criterion.rule is None:
        return None
    return judge(criterion.rule, parsed.text, as_of, whole=wholly_read(parsed))


def touched(parsed: ParsedText, spans: Iterable[Span]) -> list[tuple[str, dict[str, Any]]]:
    """The pieces under the spans with the ids they are cited by, each once, in the order of the spans."""
    numbered = [(f"E{number}", piece) for number, piece in enumerate(parsed.pieces, start=1)]
    found: dict[str, dict[str, Any]] = {}
    for span in spans:
        found.update(
            (name, piece)
            for name, piece in numbered
            if name not in found and piece["start"] < span.end and span.start < piece["end"]
        )
    return list(found.items())
