"""What a rule can decide about a CV, with the places that say it: pure arithmetic on the text, no Django and no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from nekibu.language.intervals import Interval, contradictions, months_union
from nekibu.language.levels import LANGUAGES, RANKS, LanguageLevel, find_exams, find_language_levels
from nekibu.language.licences import CLASSES, NO_LICENCE, find_licence_mentions, find_licences
from nekibu.language.periods import find_periods
from nekibu.language.sections import loose_work_dates, maybe_work_intervals, work_intervals
from nekibu.language.terms import Match, find_terms
from nekibu.language.turkish import fold

Verdict = Literal["met", "partly", "not_met", "not_stated"]
_CLAIM_AFTER = re.compile(r"[^.;\n]{0,30}?\b(?:toplam|total|deneyim|tecrube|experience)")
_CLAIM_BEFORE = re.compile(r"\b(?:toplam|total|deneyim\w*|tecrube\w*|experience)[ :\-–]{1,4}$")
_DENIED_AFTER = re.compile(
    r"[^.;,\n]{0,40}?\b(?:yok\w*|bilm(?:iyor|e)\w*|kullanm(?:adim|iyor|amis|ad)\w*|calismadim|bulunm(?:uyor|amakta)\w*|"
    r"not (?:used|known)|never used)\b"
)
_DENIED_BEFORE = re.compile(
    r"\b(?:no|without|never(?: \w+)?|not|don'?t know|do not know|lack of|haven'?t used|have not used)"
    r"(?: (?:any|prior|previous|hands-on|professional|yet|used|worked|experience|knowledge|with|in|of))*$"
)
_DAMAGE = re.compile(r"\ufffd|\(cid:\d+\)|[\ue000-\uf8ff]")
_INCLUDED_IN = {
    "B": "BE C1 C1E C CE D1 D1E D DE E",
    "C": "CE D DE",
    "C1": "C1E C CE D DE",
    "A1": "A2 A",
    "A2": "A",
}


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


def judge(rule: Mapping[str, Any], text: str, as_of: date, *, whole: bool = True) -> Judgement:
    """Apply one rule of a rubric to a CV's visible text. Raises ValueError for a rule that does not exist.

    `whole` is false where a part of the file could not be read: then months that are missing prove nothing. No
    verdict rests on a damaged word.
    """
    kind = rule.get("type")
    if kind == "experience_months":
        word = _experience(int(rule["min"]), text, as_of, whole)
    elif kind == "language_level":
        word = _language(str(rule["language"]), str(rule["min"]), text)
    elif kind == "licence":
        word = _licence(str(rule["class"]), text)
    elif kind == "term":
        word = _term([str(t) for t in rule["any"]], text)
    else:
        raise ValueError(f"unknown rule {kind!r}")
    if word.verdict and any(_damaged(text, span) for span in word.spans):
        return Judgement(None, word.spans, f"letters are lost in the passage ({word.reason})")
    return word


def check_rule(rule: Any) -> str:
    """Why a rule cannot be stored, or an empty string."""
    if not isinstance(rule, Mapping):
        return "not an object"
    try:
        _vet(rule)
        judge(rule, "", date(2026, 1, 1))
    except (KeyError, TypeError, ValueError) as broken:
        return str(broken)
    return ""


def _vet(rule: Mapping[str, Any]) -> None:
    """Refuse what no text could ever satisfy: an unknown language or class, no months, no terms."""
    kind = rule.get("type")
    if kind == "experience_months" and int(rule["min"]) < 1:
        raise ValueError(f"min {rule['min']!r} is not a number of months")
    if kind == "language_level" and (rule["language"] not in LANGUAGES or rule["min"] not in RANKS):
        raise ValueError(f"unknown language or level {rule['language']!r} {rule['min']!r}")
    if kind == "licence" and rule["class"] not in CLASSES:
        raise ValueError(f"unknown licence class {rule['class']!r}")
    if kind == "term" and (
        isinstance(rule["any"], str) or not any(str(term).strip() for term in rule["any"])
    ):
        raise ValueError("any must be a list of terms")


def _experience(required: int, text: str, as_of: date, whole: bool) -> Judgement:
    stays = work_intervals(text)
    broken = contradictions(stays, as_of)
    if broken:
        return Judgement(
            None,
            _places(b.interval for b in broken),
            f"dates that cannot be: {', '.join(sorted({b.code for b in broken}))}",
            contradiction=True,
        )
    months = months_union(stays, as_of)
    spans = _places(sorted(stays, key=lambda stay: -months_union([stay], as_of).max))
    claim = _claim(text)
    if claim and stays and claim[0] * 12 > months.max + 12:
        return Judgement(
            None,
            (claim[1], *spans),
            f"the CV claims {claim[0]:g} years, its dates give {months.max} months",
            contradiction=True,
        )
    said = f"{months.min} months" if months.min == months.max else f"{months.min} to {months.max} months"
    outcome = months.compare(required)
    if outcome == "met":
        return Judgement("met", spans, f"{said}, required {required} (union of {len(stays)} stays)")
    if outcome == "uncertain":
        return Judgement(
            None,
            spans,
            f"{said}: the required {required} lie inside, because years are stated without months",
        )
    loose = loose_work_dates(text)
    if loose:
        return Judgement(
            None,
            (*(Span(*place) for place in loose), *spans),
            f"{said} without the dates that no rule can read",
        )
    maybe = maybe_work_intervals(text)
    if maybe and months_union([*stays, *maybe], as_of).max >= required:
        return Judgement(
            None,
            (*spans, *_places(maybe)),
            f"{said}; whether internships and projects count is not for a rule to say",
        )
    if not stays:
        if claim:
            return Judgement(None, (claim[1],), f"the CV claims {claim[0]:g} years and dates none of them")
        return Judgement("not_stated", (), "no employment dates in the CV")
    if not whole:
        return Judgement(None, spans, f"{said} in the part of the file that could be read")
    return Judgement("not_met", spans, f"{said}, required {required} (union of {len(stays)} stays)")


def _places(stays: Iterable[Interval]) -> tuple[Span, ...]:
    return tuple(Span(stay.start_offset, stay.end_offset) for stay in stays)


def _claim(text: str) -> tuple[Decimal, Span] | None:
    """The longest experience that the CV claims in words, in years, and its place."""
    found = []
    for period in find_periods(text):
        years = period.years + period.months / 12
        after = _CLAIM_AFTER.match(fold(text[period.end : period.end + 45].split("\n")[0]))
        before = _CLAIM_BEFORE.search(fold(text[max(0, period.start - 30) : period.start]) + " ")
        if years and (after or before):
            found.append((years, Span(period.start, period.end)))
    return max(found, key=lambda one: one[0]) if found else None


def _language(language: str, minimum: str, text: str) -> Judgement:
    required = RANKS[minimum]
    found = [level for level in find_language_levels(text) if level.language == language]
    if not found:
        exams = [exam for exam in find_exams(text) if exam.language == language]
        if exams:
            return Judgement(
                None, tuple(Span(e.start, e.end) for e in exams), "an examination is named, its level is not"
            )
        return Judgement("not_stated", (), f"no level of {language} in the CV")
    spans = tuple(Span(level.start, level.end) for level in found)
    said = ", ".join(sorted({level.level for level in found}))
    words = [level for level in found if level.approximate]
    letters = [level for level in found if not level.approximate]
    enough = {RANKS[level.level] >= required for level in letters}
    enough |= {RANKS[level.level] > required for level in words if not _near(level, required)}
    if len(enough) == 2:
        return Judgement(None, spans, f"the CV states {said}", contradiction=True)
    if not letters and any(_near(level, required) for level in words):
        return Judgement(None, spans, f"a word for about {said} is too near to the required {minimum}")
    return Judgement(
        "met" if enough == {True} else "not_met", spans, f"the CV states {said}, required {minimum}"
    )


def _near(level: LanguageLevel, required: int) -> bool:
    """A word such as `iyi` or `fluent` is about one level wide on either side."""
    return abs(RANKS[level.level] - required) <= 1


def _licence(wanted: str, text: str) -> Judgement:
    found = find_licences(text)
    if not found:
        named = find_licence_mentions(text)
        if named:
            return Judgement(
                None, tuple(Span(*place) for place in named), "a licence is named without its class"
            )
        return Judgement("not_stated", (), "no driving licence in the CV")
    fitting = [licence for licence in found if licence.licence_class == wanted]
    spans = tuple(Span(licence.start, licence.end) for licence in (fitting or found))
    classes = {licence.licence_class for licence in found}
    said = ", ".join(sorted(classes))
    if NO_LICENCE in classes and len(classes) > 1:
        every = tuple(Span(licence.start, licence.end) for licence in found)
        return Judgement(None, every, f"licence classes stated: {said}", contradiction=True)
    if not fitting and classes & set(_INCLUDED_IN.get(wanted, "").split()):
        return Judgement(None, spans, f"licence classes stated: {said}; they may include {wanted}")
    return Judgement(
        "met" if fitting else "not_met", spans, f"licence classes stated: {said}, required {wanted}"
    )


def _term(terms: Sequence[str], text: str) -> Judgement:
    found = find_terms(text, terms)
    if not found:
        return Judgement("not_stated", (), "none of the terms is in the CV")
    meant = [match for match in found if not _denied(text, match)]
    spans = tuple(Span(match.start, match.end) for match in (meant or found))
    said = ", ".join(sorted({match.term for match in (meant or found)}))
    if not meant:
        return Judgement(None, spans, f"{said}: the sentence seems to deny it")
    sound = tuple(span for span in spans if not _damaged(text, span))
    return Judgement("met", sound or spans, f"found: {said}")


def _denied(text: str, match: Match) -> bool:
    """Whether the words around a term say that it is not known: `Python bilmiyorum`, `no experience with Python`."""
    before = fold(text[max(0, match.start - 60) : match.start].rpartition("\n")[2])
    after = fold(text[match.end : match.end + 60].split("\n")[0])
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after))


def _damaged(text: str, span: Span) -> bool:
    """Whether letters are lost inside the place or in the words that it cuts."""
    start, end = span.start, span.end
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return bool(_DAMAGE.search(text, start, end))
