"""What a rule can decide about a CV, with the places that say it: pure arithmetic on the text, no Django and no model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from nekibu.language.intervals import contradictions, months_union
from nekibu.language.levels import RANKS, find_language_levels
from nekibu.language.licences import find_licences
from nekibu.language.sections import work_intervals
from nekibu.language.terms import find_terms
from nekibu.language.turkish import key

Verdict = Literal["met", "partly", "not_met", "not_stated"]
_CLAIM = re.compile(
    r"\b(\d{1,2})\s*\+?\s*(?:yil\w*|years?)\b[^.;\n]{0,30}?\b(?:toplam|total|deneyim|tecrube|experience)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the text; offsets count code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule's word. `verdict` is None where the text does not let a rule decide; `contradiction` says why a person must."""

    verdict: Verdict | None
    spans: tuple[Span, ...]
    reason: str
    contradiction: bool = False


def judge(rule: Mapping[str, Any], text: str, as_of: date) -> Judgement:
    """Apply one rule of a rubric to a CV's visible text. Raises ValueError for a rule that does not exist."""
    kind = rule.get("type")
    if kind == "experience_months":
        return _experience(int(rule["min"]), text, as_of)
    if kind == "language_level":
        return _language(str(rule["language"]), str(rule["min"]), text)
    if kind == "licence":
        return _licence(str(rule["class"]), text)
    if kind == "term":
        return _term([str(t) for t in rule["any"]], text)
    raise ValueError(f"unknown rule {kind!r}")


def check_rule(rule: Any) -> str:
    """Why a rule cannot be stored, or an empty string."""
    if not isinstance(rule, Mapping):
        return "not an object"
    try:
        judge(rule, "", date(2026, 1, 1))
    except (KeyError, TypeError, ValueError) as broken:
        return str(broken)
    return ""


def _experience(required: int, text: str, as_of: date) -> Judgement:
    stays = work_intervals(text)
    spans = tuple(Span(stay.start_offset, stay.end_offset) for stay in stays)
    broken = contradictions(stays, as_of)
    if broken:
        where = tuple(Span(b.interval.start_offset, b.interval.end_offset) for b in broken)
        return Judgement(
            None,
            where,
            f"dates that cannot be: {', '.join(sorted({b.code for b in broken}))}",
            contradiction=True,
        )
    if not stays:
        return Judgement("not_stated", (), "no employment dates in the CV")
    months = months_union(stays, as_of)
    claimed = _claim(text)
    if claimed and claimed[0] * 12 > months.max + 12:
        where = (claimed[1], *spans)
        return Judgement(
            None,
            where,
            f"the CV claims {claimed[0]} years, its dates give {months.max} months",
            contradiction=True,
        )
    said = f"{months.min} months" if months.min == months.max else f"{months.min} to {months.max} months"
    outcome = months.compare(required)
    if outcome == "uncertain":
        return Judgement(
            None,
            spans,
            f"{said}: the required {required} lie inside, because years are stated without months",
        )
    return Judgement(
        "met" if outcome == "met" else "not_met",
        spans,
        f"{said}, required {required} (union of {len(stays)} stays)",
    )


def _claim(text: str) -> tuple[int, Span] | None:
    """A total that the CV claims in words, and its place."""
    folded = key(text, collapse=False)
    match = _CLAIM.search(folded.text)
    return (int(match.group(1)), Span(*folded.span(match.start(), match.end()))) if match else None


def _language(language: str, minimum: str, text: str) -> Judgement:
    found = [level for level in find_language_levels(text) if level.language == language]
    if not found:
        return Judgement("not_stated", (), f"no level of {language} in the CV")
    ranks = {RANKS[level.level] for level in found}
    enough = {rank >= RANKS[minimum] for rank in ranks}
    spans = tuple(Span(level.start, level.end) for level in found)
    said = ", ".join(sorted({level.level for level in found}))
    if len(enough) == 2:
        return Judgement(None, spans, f"the CV states {said}", contradiction=True)
    return Judgement(
        "met" if enough == {True} else "not_met", spans, f"the CV states {said}, required {minimum}"
    )


def _licence(wanted: str, text: str) -> Judgement:
    found = find_licences(text)
    if not found:
        return Judgement("not_stated", (), "no driving licence in the CV")
    fitting = [licence for licence in found if licence.licence_class == wanted]
    spans = tuple(Span(licence.start, licence.end) for licence in (fitting or found))
    said = ", ".join(sorted({licence.licence_class for licence in found}))
    return Judgement(
        "met" if fitting else "not_met", spans, f"licence classes stated: {said}, required {wanted}"
    )


def _term(terms: Sequence[str], text: str) -> Judgement:
    found = find_terms(text, terms)
    if not found:
        return Judgement("not_stated", (), "none of the terms is in the CV")
    return Judgement(
        "met",
        tuple(Span(m.start, m.end) for m in found),
        f"found: {', '.join(sorted({m.term for m in found}))}",
    )
