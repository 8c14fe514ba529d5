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
from nekibu.sentences import Sentence

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


class Reason(Sentence):
    """Why a rule says what it says, as the record keeps it."""

    DAMAGED = "letters are lost in the passage (%(reason)s)"
    IMPOSSIBLE_DATES = "dates that cannot be: %(which)s"
    CLAIM_DIFFERS = "the CV claims %(years)s years, its dates give %(months)s months"
    CLAIM_UNDATED = "the CV claims %(years)s years and dates none of them"
    MONTHS = "%(months)s months, required %(required)s (union of %(stays)s stays)"
    MONTHS_UNSURE = (
        "%(months)s months: the required %(required)s lie inside, because years are stated without months"
    )
    MONTHS_LOOSE = "%(months)s months without the dates that no rule can read"
    MONTHS_MAYBE = "%(months)s months; whether internships and projects count is not for a rule to say"
    MONTHS_IN_PART = "%(months)s months in the part of the file that could be read"
    NO_DATES = "no employment dates in the CV"
    LEVEL = "the CV states %(levels)s, required %(level)s"
    LEVELS_DIFFER = "the CV states %(levels)s"
    LEVEL_NEAR = "a word for about %(levels)s is too near to the required %(level)s"
    LEVEL_UNSAID = "an examination is named, its level is not"
    NO_LEVEL = "no level of %(language)s in the CV"
    LICENCE = "licence classes stated: %(classes)s, required %(wanted)s"
    LICENCES_DIFFER = "licence classes stated: %(classes)s"
    LICENCE_WIDER = "licence classes stated: %(classes)s; they may include %(wanted)s"
    LICENCE_UNSAID = "a licence is named without its class"
    NO_LICENCE = "no driving licence in the CV"
    TERM = "found: %(terms)s"
    TERM_DENIED = "%(terms)s: the sentence seems to deny it"
    NO_TERM = "none of the terms is in the CV"


class Flaw(Sentence):
    """Why a rule cannot be stored."""

    NO_OBJECT = "not an object"
    MISSING = "%(name)s is missing"
    UNKNOWN = "unknown rule %(kind)s"
    MONTHS = "min must be a number of months"
    LANGUAGE = "unknown language or level: %(language)s, %(level)s"
    LICENCE = "unknown licence class %(wanted)s"
    TERMS = "any must be a list of terms"


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
        raise ValueError(Flaw.UNKNOWN.say(kind=kind))
    if word.verdict and any(_damaged(text, span) for span in word.spans):
        return Judgement(None, word.spans, Reason.DAMAGED.say(reason=word.reason))
    return word


def check_rule(rule: Any) -> str:
    """Why a rule cannot be stored, or an empty string."""
    if not isinstance(rule, Mapping):
        return Flaw.NO_OBJECT.say()
    try:
        _vet(rule)
        judge(rule, "", date(2026, 1, 1))
    except KeyError as missing:
        return Flaw.MISSING.say(name=missing.args[0])
    except (TypeError, ValueError) as broken:
        return str(broken)
    return ""


def _vet(rule: Mapping[str, Any]) -> None:
    """Refuse what no text could ever satisfy: an unknown language or class, no months, no terms."""
    kind = rule.get("type")
    if kind == "experience_months" and not (str(rule["min"]).isdecimal() and int(rule["min"]) >= 1):
        raise ValueError(Flaw.MONTHS.say())
    if kind == "language_level" and (rule["language"] not in LANGUAGES or rule["min"] not in RANKS):
        raise ValueError(Flaw.LANGUAGE.say(language=rule["language"], level=rule["min"]))
    if kind == "licence" and rule["class"] not in CLASSES:
        raise ValueError(Flaw.LICENCE.say(wanted=rule["class"]))
    if kind == "term" and (
        isinstance(rule["any"], str) or not any(str(term).strip() for term in rule["any"])
    ):
        raise ValueError(Flaw.TERMS.say())


def _experience(required: int, text: str, as_of: date, whole: bool) -> Judgement:
    stays = work_intervals(text)
    broken = contradictions(stays, as_of)
    if broken:
        return Judgement(
            None,
            _places(b.interval for b in broken),
            Reason.IMPOSSIBLE_DATES.say(which=", ".join(sorted({b.code for b in broken}))),
            contradiction=True,
        )
    months = months_union(stays, as_of)
    spans = _places(sorted(stays, key=lambda stay: -months_union([stay], as_of).max))
    claim = _claim(text)
    if claim and stays and claim[0] * 12 > months.max + 12:
        return Judgement(
            None,
            (claim[1], *spans),
            Reason.CLAIM_DIFFERS.say(years=f"{claim[0]:g}", months=months.max),
            contradiction=True,
        )
    said = str(months.min) if months.min == months.max else f"{months.min}–{months.max}"
    counted = Reason.MONTHS.say(months=said, required=required, stays=len(stays))
    outcome = months.compare(required)
    if outcome == "met":
        return Judgement("met", spans, counted)
    if outcome == "uncertain":
        return Judgement(
            None,
            spans,
            Reason.MONTHS_UNSURE.say(months=said, required=required),
        )
    loose = loose_work_dates(text)
    if loose:
        return Judgement(
            None,
            (*(Span(*place) for place in loose), *spans),
            Reason.MONTHS_LOOSE.say(months=said),
        )
    maybe = maybe_work_intervals(text)
    if maybe and months_union([*stays, *maybe], as_of).max >= required:
        return Judgement(
            None,
            (*spans, *_places(maybe)),
            Reason.MONTHS_MAYBE.say(months=said),
        )
    if not stays:
        if claim:
            return Judgement(None, (claim[1],), Reason.CLAIM_UNDATED.say(years=f"{claim[0]:g}"))
        return Judgement("not_stated", (), Reason.NO_DATES.say())
    if not whole:
        return Judgement(None, spans, Reason.MONTHS_IN_PART.say(months=said))
    return Judgement("not_met", spans, counted)


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
            return Judgement(None, tuple(Span(e.start, e.end) for e in exams), Reason.LEVEL_UNSAID.say())
        return Judgement("not_stated", (), Reason.NO_LEVEL.say(language=language))
    spans = tuple(Span(level.start, level.end) for level in found)
    said = ", ".join(sorted({level.level for level in found}))
    words = [level for level in found if level.approximate]
    letters = [level for level in found if not level.approximate]
    enough = {RANKS[level.level] >= required for level in letters}
    enough |= {RANKS[level.level] > required for level in words if not _near(level, required)}
    if len(enough) == 2:
        return Judgement(None, spans, Reason.LEVELS_DIFFER.say(levels=said), contradiction=True)
    if not letters and any(_near(level, required) for level in words):
        return Judgement(None, spans, Reason.LEVEL_NEAR.say(levels=said, level=minimum))
    return Judgement(
        "met" if enough == {True} else "not_met", spans, Reason.LEVEL.say(levels=said, level=minimum)
    )


def _near(level: LanguageLevel, required: int) -> bool:
    """A word such as `iyi` or `fluent` is about one level wide on either side."""
    return abs(RANKS[level.level] - required) <= 1


def _licence(wanted: str, text: str) -> Judgement:
    found = find_licences(text)
    if not found:
        named = find_licence_mentions(text)
        if named:
            return Judgement(None, tuple(Span(*place) for place in named), Reason.LICENCE_UNSAID.say())
        return Judgement("not_stated", (), Reason.NO_LICENCE.say())
    fitting = [licence for licence in found if licence.licence_class == wanted]
    spans = tuple(Span(licence.start, licence.end) for licence in (fitting or found))
    classes = {licence.licence_class for licence in found}
    said = ", ".join(sorted(classes))
    if NO_LICENCE in classes and len(classes) > 1:
        every = tuple(Span(licence.start, licence.end) for licence in found)
        return Judgement(None, every, Reason.LICENCES_DIFFER.say(classes=said), contradiction=True)
    if not fitting and classes & set(_INCLUDED_IN.get(wanted, "").split()):
        return Judgement(None, spans, Reason.LICENCE_WIDER.say(classes=said, wanted=wanted))
    return Judgement("met" if fitting else "not_met", spans, Reason.LICENCE.say(classes=said, wanted=wanted))


def _term(terms: Sequence[str], text: str) -> Judgement:
    found = find_terms(text, terms)
    if not found:
        return Judgement("not_stated", (), Reason.NO_TERM.say())
    meant = [match for match in found if not _denied(text, match)]
    spans = tuple(Span(match.start, match.end) for match in (meant or found))
    said = ", ".join(sorted({match.term for match in (meant or found)}))
    if not meant:
        return Judgement(None, spans, Reason.TERM_DENIED.say(terms=said))
    sound = tuple(span for span in spans if not _damaged(text, span))
    return Judgement("met", sound or spans, Reason.TERM.say(terms=said))


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
