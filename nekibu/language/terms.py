"""Finding skills and other criterion terms in a text, as whole terms with their signs, never inside another word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from nekibu.language.turkish import INFLECTION, Key, exact_key, fold, key


@dataclass(frozen=True, slots=True)
class Match:
    """One place where a term stands; `exact` says that even the Turkish letters agree."""

    term: str
    start: int
    end: int
    exact: bool = True


def find_terms(text: str, terms: Iterable[str], *, inflected: bool = True) -> list[Match]:
    """Every place of every term, in text order.

    A term ends where its token ends: `C` is not in `C++`, `Java` not in `JavaScript`, the skill `R` not in
    the initial of `Çetin R. Kaya`. With `inflected` a last word of four letters or more may carry Turkish
    inflections (`muhasebede`), which belong to the span; words derived from it (`muhasebeci`) are other words.
    """
    folded = key(text)
    found: list[Match] = []
    for term in dict.fromkeys(terms):
        pattern = _pattern(fold(term), inflected)
        if pattern is None:
            continue
        for match in pattern.finditer(folded.text):
            if _is_other_thing(folded, text, match, term):
                continue
            start, end = folded.span(*match.span("term"))
            found.append(Match(term, start, end, exact_key(text[start:end]).startswith(exact_key(term))))
    return sorted(found, key=lambda match: (match.start, -match.end, match.term))


def contains_term(text: str, terms: Iterable[str]) -> bool:
    """Whether any of the terms stands in the text."""
    return bool(find_terms(text, terms))


@lru_cache(maxsize=4096)
def _pattern(folded_term: str, inflected: bool) -> re.Pattern[str] | None:
    if not re.search(r"\w", folded_term):
        return None
    parts = folded_term.split(" ")
    body = re.escape(parts[0])
    for before, part in pairwise(parts):
        number = before[-1].isalpha() and part[0].isdigit()  # ISO 9001, ISO9001
        body += (r"[ \-]?" if number else r"[ \-]") + re.escape(part)
    body = re.sub(r"(?<=[a-z])\\\.js$", r"[. ]?js", body)  # Node.js, NodeJS
    tail = parts[-1]
    if inflected and re.fullmatch(r"[a-z]{4,}", re.split(r"[^a-z]", tail)[-1]):
        body = (_soften(body) if tail[-1] in "kptc" else _pluralise(body, len(parts))) + rf"(?:{INFLECTION})?"
    elif re.fullmatch(r"[a-z]{3}", tail):
        body += "s?"  # APIs, KPIs
    version = r"(?:\d{1,2}(?:\.\d+)*)?" if re.search(r"[a-z]{3}$", folded_term) else ""  # HTML5, Python3.11
    return re.compile(_before(folded_term) + rf"(?P<term>{body})" + version + _after(folded_term))


def _soften(body: str) -> str:
    """The last consonant may soften before a vowel: `sözlük`, `sözlüğü`."""
    last = body[-1]
    soft = {"k": "g", "p": "b", "t": "d", "c": "c"}[last]
    return body[:-1] + rf"(?:{last}|{soft}(?=[aeiou]))"


def _pluralise(body: str, words: int) -> str:
    """A compound takes its plural before the possessive: `iş analizi`, `iş analizleri`."""
    compound = words > 1 and re.search(r"[a-z]{4}[iu]$", body)
    return rf"(?:{body}|{re.sub('s?[iu]$', '', body)}l[ae]ri)" if compound else body


def _before(term: str) -> str:
    if not term[0].isalnum():
        return r"(?<![\w.])"
    guard = r"(?<![\w@])(?<!\w')(?<!\w\.)(?<!/\.)(?<![ (,;:/]\.)(?<!^\.)"  # not after "Node." and not the NET of ".NET"
    return guard + (r"(?<!\w[&\-])(?<!\w[&] )" if len(term) == 1 else "")


def _after(term: str) -> str:
    last = term[-1]
    if last == "+":
        return r"(?![\w+])"
    if last == "#":
        return r"(?![\w#+])"
    guard = r"(?!\w)(?!\.\w)(?!\+\+)(?!#)(?!@)"
    return guard + (r"(?![+&])(?!-\w)(?! & ?\w(?!\w))" if len(term) == 1 else "")


def _is_other_thing(folded: Key, text: str, match: re.Match[str], term: str) -> bool:
    """Terms of one or two letters look like many things: an initial, a class, a block, a small English word."""
    letters = [letter for letter in term if letter.isalpha()]
    if len(letters) > 2:
        return False
    start, end = folded.span(*match.span("term"))
    written = text[start:end]
    if any(letter.isupper() for letter in letters) and written.islower():
        return True
    if len(letters) > 1 or not term.isalpha():
        return False
    if written != term and exact_key(written) != exact_key(term):
        return True
    before, after = text[:start].rstrip(" \t"), text[end:]
    if _is_initial(before, after):
        return True
    line_before = fold(before[before.rfind("\n") + 1 :])
    line_after = fold(after[:24])
    return bool(_LETTER_LABEL_BEFORE.search(line_before) or _LETTER_LABEL_AFTER.match(line_after))


_LETTER_LABEL_BEFORE = re.compile(
    r"(?:\b(?:ehliyet\w*|surucu belge\w*|licen[cs]e\w*|sinif\w*|class\w*|blok|block|kat|daire|no|vitamin|tip|type|"
    r"sube\w*|plan|grup|group|seviye\w*|level|kategori|category)\s*:?\s*[\(\[]?(?:[a-z]\d?\s*[,/&]\s*)*|\")$"
)
_LETTER_LABEL_AFTER = re.compile(
    r"['\"]?\s*[\-/]?\s*(?:sinif|class\b|blok|block|vitamin|tipi?\b|sube|grubu?\b|seviye|level|suite\b|plani?\b)"
)


def _is_initial(before: str, after: str) -> bool:
    """Whether a lone letter is the initial in a person's name: `Çetin R. Kaya`, `R. Kaya`, `J. R. Smith`."""
    dotted = re.match(r"\.\s*(?=\S)(\S)", after)
    follows_name = bool(dotted and dotted.group(1).isupper())
    last = re.search(r"(\S+)$", before)
    previous = last.group(1) if last and not before.endswith("\n") else ""
    if after.startswith("."):
        starts_line = not previous
        after_name = bool(re.fullmatch(r"[^\W\d_][\w'’\-]*|\w\.", previous)) and previous[0].isupper()
        return follows_name and (starts_line or after_name)
    undotted = re.match(r"[ \t]+(\w)(\w+)", after)
    return bool(
        undotted
        and undotted.group(1).isupper()
        and re.fullmatch(r"[^\W\d_][^\W\d_]+", previous)
        and previous[0].isupper()
        and _looks_like_surname(undotted.group(2))
    )


def _looks_like_surname(rest: str) -> bool:
    return rest.islower() or rest.isupper()
