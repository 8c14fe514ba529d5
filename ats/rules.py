"""What a rule can decide about a CV, with the places that say it: pure arithmetic on the text, no Django and no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from nekibu.language.intervals import Interval, contradictions, intervals, months_union
from nekibu.language.levels import RANKS, find_language_levels
from nekibu.language.licences import find_licences
from nekibu.language.terms import find_terms
from nekibu.language.turkish import fold

Verdict = Literal["met", "partly", "not_met", "not_stated"]

_EXPERIENCE = {
    "deneyim", "is deneyimi", "mesleki deneyim", "profesyonel deneyim", "is tecrubesi", "deneyimler", "tecrube", "calisma hayati",
    "experience", "work experience", "professional experience", "employment", "employment history", "career", "work history",
}  # fmt: skip
_OTHER = {
    "egitim", "ogrenim", "egitim bilgileri", "education", "academic background", "beceriler", "yetkinlikler", "skills", "diller",
    "yabanci dil", "yabanci diller", "languages", "sertifikalar", "kurslar", "certificates", "certifications", "courses", "training",
    "ozet", "profil", "hakkimda", "summary", "profile", "about", "referanslar", "references", "hobiler", "interests", "diger",
    "other", "projeler", "projects", "iletisim", "contact", "ek bilgiler", "additional information", "yayinlar", "publications",
}  # fmt: skip


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


def experience_part(text: str) -> list[Interval]:
    """Stays that count as work: those under an experience heading or, where there is none, those not under another one."""
    found = intervals(text)
    headings = _headings(text)
    if not headings:
        return found

    def section(at: int) -> str:
        return next((kind for start, kind in reversed(headings) if start <= at), "")

    wanted = "experience" if any(kind == "experience" for _, kind in headings) else ""
    return [stay for stay in found if section(stay.start_offset) == wanted]


def _experience(required: int, text: str, as_of: date) -> Judgement:
    stays = experience_part(text)
    spans = tuple(Span(stay.start_offset, stay.end_offset) for stay in stays)
    broken = contradictions(stays, as_of)
    if broken:
        where = tuple(Span(b.interval.start_offset, b.interval.end_offset) for b in broken)
        return Judgement(None, where, f"dates that cannot be: {', '.join(sorted({b.code for b in broken}))}", contradiction=True)
    if not stays:
        return Judgement("not_stated", (), "no employment dates in the CV")
    months = months_union(stays, as_of)
    said = f"{months.min} months" if months.min == months.max else f"{months.min} to {months.max} months"
    outcome = months.compare(required)
    if outcome == "uncertain":
        return Judgement(None, spans, f"{said}: the required {required} lie inside, because years are stated without months")
    return Judgement("met" if outcome == "met" else "not_met", spans, f"{said}, required {required} (union of {len(stays)} stays)")


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
    return Judgement("met" if enough == {True} else "not_met", spans, f"the CV states {said}, required {minimum}")


def _licence(wanted: str, text: str) -> Judgement:
    found = find_licences(text)
    if not found:
        return Judgement("not_stated", (), "no driving licence in the CV")
    fitting = [licence for licence in found if licence.licence_class == wanted]
    spans = tuple(Span(licence.start, licence.end) for licence in (fitting or found))
    said = ", ".join(sorted({licence.licence_class for licence in found}))
    return Judgement("met" if fitting else "not_met", spans, f"licence classes stated: {said}, required {wanted}")


def _term(terms: Sequence[str], text: str) -> Judgement:
    found = find_terms(text, terms)
    if not found:
        return Judgement("not_stated", (), "none of the terms is in the CV")
    return Judgement("met", tuple(Span(m.start, m.end) for m in found), f"found: {', '.join(sorted({m.term for m in found}))}")


def _headings(text: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        word = fold(line.strip().rstrip(":").strip())
        if word in _EXPERIENCE:
            found.append((at, "experience"))
        elif word in _OTHER:
            found.append((at, "other"))
        at += len(line)
    return found
