"""Turkish letters: case, order and the two search keys, each key with a map back to the stored text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Characters a reader does not see and a search must not stumble over: soft hyphen, zero width, direction marks.
_UNSEEN = frozenset(
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
)
_APOSTROPHES = frozenset("'’‘ʼ‛´`′＇ʹ")
_DASHES = frozenset("-‐‑‒–—―−﹣－⁃")
_STROKES = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ħ": "h",
    "ə": "e",
}

# Collation order of the Turkish alphabet, with the Latin letters it lacks where dictionaries put them.
_ALPHABET = "abcçdefgğhıijklmnoöpqrsştuüvwxyz"
_RANK = {letter: place for place, letter in enumerate(_ALPHABET, start=100)}

# Inflections of a noun, in folded letters: plural, possessive, case, "ki", question-free copulas. Not the
# derivations (-ci, -lik, -siz): those make another word.
_PLURAL = r"l[ae]r"
_POSSESSIVE = r"(?:s?[iu]|[iu]?m[iu]z|[iu]?n[iu]z|[iu]m|[iu]n)"
_CASE = r"(?:n?[dt][ae]n?|[yn]?[iu]|[yn]?[ae]|n?[iu]n|y?l[ae]|nc[ae]|c[ae])"
INFLECTION = rf"(?=[a-z])(?:{_PLURAL})?(?:{_POSSESSIVE})?(?:{_CASE})?(?:k[iu](?:l[ae]r)?)?(?:[dt][iu]r)?"
_AFTER_APOSTROPHE = re.compile(rf"(?:{INFLECTION}|l[iu]k?|s|m[iu])$")


@dataclass(frozen=True, slots=True)
class Key:
    """A search key and, for each of its characters, where it came from in the stored text."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the stored text behind `key.text[start:end]`, which must not be empty."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, slots=True)
class Word:
    """A word without the suffix after its apostrophe, and its place in the stored text."""

    text: str
    start: int
    end: int


def lower(text: str) -> str:
    """Lower case by Turkish rules: `IŞIK` is `ışık`, `İSTANBUL` is `istanbul` in eight characters."""
    composed = unicodedata.normalize("NFC", text)
    return composed.replace("İ", "i").replace("I", "ı").lower().replace("i\u0307", "i")


def upper(text: str) -> str:
    """Upper case by Turkish rules: `iğde ışık` is `İĞDE IŞIK`."""
    composed = (
        unicodedata.normalize("NFC", text).replace("ﬃ", "ffi").replace("ﬁ", "fi").replace("i\u0307", "i")
    )
    return composed.replace("i", "İ").replace("ı", "I").upper()


def exact_key(text: str) -> str:
    """The key of a careful typist: Turkish lower case, compatibility forms and white space levelled."""
    return key(text, relaxed=False).text.strip()


def fold(text: str) -> str:
    """The key of a hasty typist: İ, I, ı and i are one letter and accents are gone, so `sukru` is `Şükrü`."""
    return key(text, relaxed=True).text.strip()


def key(text: str, *, relaxed: bool = True, collapse: bool = True) -> Key:
    """The search key of a text with its offset map.

    `collapse` levels white space to one blank and joins words hyphenated at a line end; without it every
    white space character keeps its place, which line-bound grammars need.
    """
    return _kept_key(text, relaxed, collapse) if len(text) <= _SHORT else _made_key(text, relaxed, collapse)


_SHORT = 1_000  # several grammars ask for the key of one clause, one after the other


@lru_cache(maxsize=32)
def _kept_key(text: str, relaxed: bool, collapse: bool) -> Key:
    return _made_key(text, relaxed, collapse)


def _made_key(text: str, relaxed: bool, collapse: bool) -> Key:
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, length = 0, len(text)
    while position < length:
        start = position
        if text[start] in _UNSEEN:
            position += 1
            continue
        if collapse and text[start].isspace():
            while position < length and (text[position].isspace() or text[position] in _UNSEEN):
                position += 1
            folded = " "
        elif collapse and (joined := _hyphenation(text, start)):
            position = joined
            continue
        else:
            position = _cluster_end(text, start)
            cluster = text[start:position]
            if not cluster.isascii():
                cluster = "".join(letter for letter in cluster if letter not in _UNSEEN)
            folded = _fold_cluster(cluster, relaxed)
            if collapse and folded and folded.isspace():
                folded = " "
        for letter in folded:
            if collapse and letter == " " and letters and letters[-1] == " ":
                ends[-1] = position
                continue
            letters.append(letter)
            starts.append(start)
            ends.append(position)
    return Key("".join(letters), tuple(starts), tuple(ends))


def sort_key(text: str) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """Order of a Turkish dictionary: c before ç, ı before i, marks such as â decide only between equals."""
    primary: list[int] = []
    accents: list[int] = []
    for letter in exact_key(text):
        if letter in _RANK:
            primary.append(_RANK[letter])
            accents.append(0)
            continue
        for base in unicodedata.normalize("NFD", letter):
            if unicodedata.combining(base):
                accents.append(ord(base))
            elif base in _RANK:
                primary.append(_RANK[base])
                accents.append(0)
            else:
                primary.append(_rank_of_sign(base))
    return tuple(primary), tuple(accents), text


def strip_suffix(word: str) -> str:
    """The word before a suffix set off by an apostrophe: `Ankara'dan` is `Ankara`, `O'Brien` stays."""
    for place, letter in enumerate(word):
        if letter in _APOSTROPHES and place:
            tail = fold(word[place + 1 :])
            if not tail or _AFTER_APOSTROPHE.match(tail):
                return word[:place]
    return word


def words(text: str) -> list[Word]:
    """The words of a text as an index wants them: suffixes after an apostrophe are dropped, not indexed."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        stem = strip_suffix(match.group())
        found.append(Word(stem, match.start(), match.start() + len(stem)))
    return found


_MARK = "\u0300-\u036f\u00ad\u200b-\u200d"
_WORD = re.compile(rf"\w[\w{_MARK}]*(?:[{''.join(_APOSTROPHES)}][\w{_MARK}]+)*")


def _cluster_end(text: str, start: int) -> int:
    """The end of the base character at `start` together with the marks that belong to it."""
    end = start + 1
    while end < len(text) and text[end] > "\u007f":
        if text[end] in _UNSEEN and end + 1 < len(text) and unicodedata.combining(text[end + 1]):
            end += 1
        elif not unicodedata.combining(text[end]):
            break
        else:
            end += 1
    return end


def _hyphenation(text: str, at: int) -> int:
    """Where the word goes on if `at` is a hyphen that only splits it over two lines, else 0."""
    if text[at] not in _DASHES or at == 0 or not text[at - 1].isalpha():
        return 0
    line_end = at + 1
    while line_end < len(text) and text[line_end] in " \t\r":
        line_end += 1
    if line_end >= len(text) or text[line_end] != "\n":
        return 0
    following = line_end + 1
    while following < len(text) and text[following] in " \t":
        following += 1
    return following if following < len(text) and text[following].islower() else 0


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str, relaxed: bool) -> str:
    once = _fold_once(cluster, relaxed)
    for _ in range(4):  # a compatibility form may decompose into something that folds again
        again = (
            "".join(_fold_once(letter, relaxed) for letter in once) if relaxed else _fold_once(once, relaxed)
        )
        if again == once:
            break
        once = again
    return once


def _fold_once(cluster: str, relaxed: bool) -> str:
    if cluster in _APOSTROPHES:
        return "'"
    if cluster in _DASHES:
        return "-"
    if cluster in "“”„«»":
        return '"'
    lowered = lower(unicodedata.normalize("NFKC", cluster))
    if not relaxed:
        return unicodedata.normalize("NFKC", lowered)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(sign))
    bare = unicodedata.normalize("NFKC", bare).replace("ı", "i")
    return "".join(_STROKES.get(sign, sign) for sign in bare)


def _rank_of_sign(sign: str) -> int:
    """Blanks first, then signs, then digits, then the alphabet, then every other script."""
    if sign == " ":
        return 0
    if sign.isdigit():
        return 50 + unicodedata.digit(sign, 0)
    return 1000 + ord(sign) if sign.isalpha() else 1
