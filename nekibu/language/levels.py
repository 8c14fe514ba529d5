"""Language levels that a CV states: CEFR letters, and the usual words for them in Turkish and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nekibu.language.turkish import key

RANKS = {"A1": 1, "A2": 2, "B1": 3, "B2": 4, "C1": 5, "C2": 6, "native": 7}


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
    ("native", r"ana ?dil\w*|(?:native|mother)(?: speaker| language| tongue| or bilingual)?(?: proficiency)?|bilingual"),
    ("A2", r"pre-? ?intermediate|orta(?:nin)? alti|temel(?: (?:duzey|seviye)\w*)?|elementary|basic|zayif"),
    ("B2", r"upper-? ?intermediate|orta(?:nin)?(?: |-)?ustu|(?:professional working|good)(?: proficiency| level| command)?|iyi(?: (?:duzey|seviye|derece)\w*)?"),
    ("C2", r"near[- ]native|proficien(?:t|cy)|mastery"),
    ("C1", r"(?:cok )?ileri(?: (?:duzey|seviye)\w*)?|advanced|akici\w*|fluent(?:ly)?|cok iyi(?: (?:duzey|seviye|derece)\w*)?|very good|excellent|mukemmel|full professional"),
    ("B1", r"(?:lower-? ?)?intermediate|orta(?: (?:duzey|seviye|derece)\w*)?|limited working|conversational"),
    ("A1", r"baslangic(?: (?:duzey|seviye)\w*)?|beginner|starter"),
)  # fmt: skip
_WORD_LEVEL = "|".join(f"(?P<w_{level}>{pattern})" for level, pattern in _WORDS)
_LEVEL = re.compile(
    rf"(?<![\w])(?:(?P<cefr>[abc][12])(?:\.\d|[+\-])?(?![\w%])|(?:cok iyi|very good)(?P<very>(?!\w))|(?:{_WORD_LEVEL})(?!\w))"
)
_LANGUAGE_WORD = re.compile(_LANGUAGE + r"(?P<suffix>'?(?:m|si|sini|yi|min|mi|de|den|nin|dir|deki)?)(?!\w)")
_LEVEL_FIRST = re.compile(
    rf"(?<!\w)(?:(?P<cefr>[abc][12])|{_WORD_LEVEL})[+]?"
    r"(?: ?(?:duzey|seviye|derece|level|proficiency)\w*)?(?: ?: ?| (?:in |of |command of |olarak )?)"
    rf"{_LANGUAGE}(?!\w)(?! ?[:(\-])"
)
_REACH = 40
_STOP = re.compile(r"[;\n]|[.!?] |,(?= ?[a-z])")


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


def _levels_after(folded: str, start: int, limit: int) -> Iterator[tuple[int, int, str, bool]]:
    """Levels that follow a language on its line, or that stand alone on the next line."""
    at = start
    while True:
        found = _LEVEL.search(folded, at, min(limit, at + _REACH + 12))
        if not found:
            return
        between = folded[at : found.start()]
        alone = re.fullmatch(r"\s*\n\s*", between) and re.match(r"[ \t]*(?:\(|\n|$)", folded[found.end() :])
        further = (
            at > start and "," in between and not _STOP.search(between.replace(",", ""))
        )  # "Okuma C1, Yazma B2"
        if len(between) > _REACH or not (alone or further or not _STOP.search(between)):
            return
        level, approximate = _level_of(found)
        if approximate and (len(between) > 20 or "," in between):
            return
        yield found.start(), found.end(), level, approximate
        at = found.end()


def _level_of(match: re.Match[str]) -> tuple[str, bool]:
    groups = match.groupdict()
    if groups.get("cefr"):
        return groups["cefr"].upper(), False
    if groups.get("very") is not None:
        return "C1", True
    level = next(level for level, _ in _WORDS if groups.get(f"w_{level}"))
    return level, level != "native"
