"""Language levels that a CV states: CEFR letters, and the usual words for them in Turkish and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nekibu.language.turkish import key

RANKS = {"A1": 1, "A2": 2, "B1": 3, "B2": 4, "C1": 5, "C2": 6, "native": 7}


@dataclass(frozen=True, slots=True)
class Exam:
    """The name of a language examination, whose points say a level only to who knows its table."""

    language: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LanguageLevel:
    """A level of a language (ISO 639-1) with its place; `approximate` if a word was used instead of a CEFR level."""

    language: str
    level: str
    start: int
    end: int
    approximate: bool = False


LANGUAGES = {
    "ar": "arapca arabic", "az": "azerice azerbaijani", "bg": "bulgarca bulgarian", "cs": "cekce czech",
    "da": "danca danish", "de": "almanca german deutsch", "el": "yunanca greek rumca", "en": "ingilizce english",
    "es": "ispanyolca spanish", "fa": "farsca persian farsi", "fi": "fince finnish", "fr": "fransizca french",
    "he": "ibranice hebrew", "hi": "hintce hindi", "hu": "macarca hungarian", "it": "italyanca italian",
    "ja": "japonca japanese", "ka": "gurcuce georgian", "ko": "korece korean", "ku": "kurtce kurdish",
    "nl": "felemenkce hollandaca flemenkce dutch", "no": "norvecce norwegian", "pl": "lehce polish",
    "pt": "portekizce portuguese", "ro": "romence rumence romanian", "ru": "rusca russian", "sq": "arnavutca albanian",
    "sr": "sirpca serbian", "sv": "isvecce swedish", "tr": "turkce turkish", "uk": "ukraynaca ukrainian", "zh": "cince chinese mandarin",
}  # fmt: skip
_CODE = {name: code for code, names in LANGUAGES.items() for name in names.split()}
_LANGUAGE = rf"\b(?P<language>{'|'.join(sorted(_CODE, key=len, reverse=True))})"

# Words, from the special to the general. They are wider than a CEFR level: the middle of their range is taken.
_WORDS: tuple[tuple[str, str], ...] = (
    ("C2", r"near[- ]native|ana ?dil(?:i|e)? (?:duzey|seviye)\w*|ana ?dil gibi|mastery"),
    ("native", r"ana ?dil\w*|(?:native|mother)(?: speaker| language| tongue| or bilingual)?|bilingual"),
    ("A2", r"pre-? ?intermediate|orta(?:nin)? alti|temel(?: (?:duzey|seviye)\w*)?|elementary|basic|zayif"),
    ("B2", r"upper-? ?intermediate|orta(?:nin)?(?: |-)?ustu|ust(?: |-)?orta(?: (?:duzey|seviye)\w*)?|orta(?: ?[-/] ?)(?:ileri|iyi)|"
     r"professional working|good|iyi(?: (?:duzey|seviye|derece)\w*)?"),
    ("C1", r"(?:cok )?ileri(?: (?:duzey|seviye)\w*)?|advanced|akici\w*|fluent(?:ly)?|cok iyi(?: (?:duzey|seviye|derece)\w*)?|very good|excellent|mukemmel|full professional"),
    ("B1", r"(?:lower-? ?)?intermediate|orta(?: (?:duzey|seviye|derece)\w*)?|limited working|conversational"),
    ("A1", r"baslangic(?: (?:duzey|seviye)\w*)?|beginner|starter"),
    ("C2", r"proficient"),
)  # fmt: skip
_WORD_LEVEL = "|".join(f"(?P<w{place}_{level}>{pattern})" for place, (level, pattern) in enumerate(_WORDS))
_SAID = rf"(?:{_WORD_LEVEL})(?: (?:proficiency|level|command|knowledge))?"
_LEVEL = re.compile(
    rf"(?<![\w])(?:(?P<cefr>[abc][12])(?:\.\d|[+\-])?(?![\w%])|(?:cok iyi|very good)(?P<very>(?!\w))|{_SAID}(?!\w))"
)
_LANGUAGE_WORD = re.compile(_LANGUAGE + r"(?P<suffix>'?(?:m|si|sini|yi|min|mi|de|den|nin|dir|deki)?)(?!\w)")
_LEVEL_FIRST = re.compile(
    rf"(?<!\w)(?:(?P<cefr>[abc][12])|{_SAID})[+]?"
    r"(?: ?(?:duzey|seviye|derece|level|proficiency)\w*)?"
    r"(?: ?[:\-] ?| (?:(?:in|of|command of|knowledge of|olarak) )?)(?:(?:written and spoken|spoken and written|spoken|written) )?"
    rf"{_LANGUAGE}(?!\w)(?! ?[:(\-])"
)
_OF_THE_LANGUAGE_BEFORE = re.compile(_LANGUAGE + r"(?:'?\w{1,3})?[ \t:(|\-]*$")
_EXAMS = {
    "en": re.compile(r"\b(?:toefl|ielts|toeic|pte|yds|e-?yds|kpds|yokdil|uds|fce|cae|cpe|duolingo english test|cambridge english)\b"),
    "de": re.compile(r"\b(?:testdaf|dsh|goethe[- ]zertifikat|telc)\b"),
    "fr": re.compile(r"\b(?:delf|dalf|tcf|tef)\b"),
    "es": re.compile(r"\bdele\b"),
    "ru": re.compile(r"\btorfl\b"),
    "tr": re.compile(r"\btomer\b"),
}  # fmt: skip
_REACH = 40
_STOP = re.compile(r"[;\n]|[.!?] |,(?= ?[a-z])")
_SKILL = re.compile(
    r"[\s:(|,;\-/]*(?:okuma|yazma|konusma|dinleme|anlama|reading|writing|speaking|listening)\w*(?: becerisi)?[\s:(|\-]*"
)
_LEADER = re.compile(r"(?:[.…_·] ?){3,}")


def find_language_levels(text: str) -> list[LanguageLevel]:
    """Every stated level with the language it belongs to; a language without a level is none.

    Several levels of one language (reading C1, speaking B2) are all given. A level is looked for after its
    language on the same line, alone on the next line, or right before the language.
    """
    folded = key(text, collapse=False)
    made: dict[tuple[int, int], LanguageLevel] = {}
    names = list(_LANGUAGE_WORD.finditer(folded.text))
    claimed: list[tuple[int, int]] = []
    for match in _LEVEL_FIRST.finditer(folded.text):
        if _belongs_before(folded.text, match):
            continue
        level, approximate = _level_of(match)
        span = folded.span(*match.span())
        made[span] = LanguageLevel(_CODE[match["language"]], level, *span, approximate)
        claimed.append(match.span())
    for at, match in enumerate(names):
        if any(start <= match.start() < end for start, end in claimed):
            continue
        limit = names[at + 1].start() if at + 1 < len(names) else len(folded.text)
        for start, end, level, approximate in _levels_after(folded.text, match.end(), limit):
            if any(first <= start < last for first, last in claimed):
                continue
            span = folded.span(match.start(), end)
            made[span] = LanguageLevel(_CODE[match["language"]], level, *span, approximate)
    return sorted(made.values(), key=lambda one: (one.start, one.end))


def find_exams(text: str) -> list[Exam]:
    """Examinations named in a text, each with the language that it tests; none of them is read as a level."""
    folded = key(text, collapse=False)
    found = [
        Exam(language, *folded.span(*match.span()))
        for language, pattern in _EXAMS.items()
        for match in pattern.finditer(folded.text)
    ]
    return sorted(found, key=lambda one: one.start)


def _levels_after(folded: str, start: int, limit: int) -> Iterator[tuple[int, int, str, bool]]:
    """Levels that follow a language on its line, or that stand alone on the next line."""
    at = start
    while True:
        found = _LEVEL.search(folded, at, min(limit, at + _REACH + 12))
        if not found:
            return
        between = _LEADER.sub(" ", folded[at : found.start()])
        alone = re.fullmatch(r"\s*\n\s*", between) and re.match(r"[ \t]*(?:\(|\n|$)", folded[found.end() :])
        skill = _SKILL.fullmatch(between)  # "Okuma C1, Yazma B2"
        further = skill or (at > start and "," in between and not _STOP.search(between.replace(",", "")))
        listed = between == ", "
        if len(between) > _REACH or not (alone or further or listed or not _STOP.search(between)):
            return
        level, approximate = _level_of(found)
        listed = listed and bool(re.match(r"[ \t]*(?:[;\n)]|\.(?:\s|$)|$)", folded[found.end() :]))
        if approximate and not skill and (len(between) > 20 or "," in between) and not listed:
            return
        yield found.start(), found.end(), level, approximate
        at = found.end()


def _level_of(match: re.Match[str]) -> tuple[str, bool]:
    groups = match.groupdict()
    if groups.get("cefr"):
        return groups["cefr"].upper(), False
    if groups.get("very") is not None:
        return "C1", True
    level = next(level for place, (level, _) in enumerate(_WORDS) if groups.get(f"w{place}_{level}"))
    return level, level != "native"


def _belongs_before(folded: str, match: re.Match[str]) -> bool:
    """Whether the level is that of a language right before it, and the language after it has one of its own."""
    line = folded[folded.rfind("\n", 0, match.start()) + 1 : match.start()]
    if not _OF_THE_LANGUAGE_BEFORE.search(line):
        return False
    following = _LEVEL.search(folded, match.end(), match.end() + _REACH)
    return bool(following and re.fullmatch(r"[ \t:(|\-]*", folded[match.end() : following.start()]))
