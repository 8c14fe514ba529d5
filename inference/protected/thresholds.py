"""Limits: a value with the words that make it one, before it (`en az`, `not exceeding`) or after it (`'yi geçemez`)."""

from __future__ import annotations

import re
from dataclasses import replace

from inference.protected.found import Found
from nekibu.language.turkish import Key

LIMITED = frozenset({"rate", "money", "duration", "quantity", "date"})
_REACH = 32  # the longest words of a limit with their suffix

_BEFORE = {
    ">=": r"en az|asgari(?: olarak)?|minimum|min\.|at least|no less than|not less than|en erken|not? earlier than|not before",
    "<=": r"en cok|en fazla|azami(?: olarak)?|maksimum|maximum|maks\.|max\.|at most|not exceeding|not to exceed|no more than|"
    r"not more than|up to|en gec|not? later than|not after",
    ">": r"more than|exceeding|in excess of",
    "<": r"less than|fewer than|below",
}
_AFTER = {
    ">=": r"(?:ve |ya da |veya )?(?:uzeri|uzerinde|ustu|yukarisi)|'?[dt]?[ae]?n? az ol(?:a)?m\w+|or more|or above|or longer|and above|"
    r"'?\w{0,4} (?:altina (?:inemez|dusemez)|altinda olamaz)",
    "<=": r"(?:ve |ya da |veya )?(?:alti|altinda|asagisi)|'?\w{0,4} (?:gecemez|asamaz|gecmemek|asmamak|gecmeyen|asmayan|gecmeyecek\w*|asmayacak\w*)"
    r"|or less|or fewer|or below|or shorter",
    ">": r"'?\w{0,2}[dt][ae]n (?:fazla|cok|buyuk|uzun|yuksek)|'?\w{0,4} (?:asan|gecen|asarsa|gecerse)",
    "<": r"'?\w{0,2}[dt][ae]n (?:az|kucuk|kisa|dusuk)",
}
SIDES = (">=", "<=", ">", "<")
_NAMED = dict(zip(("ge", "le", "gt", "lt"), SIDES, strict=True))


def _pattern(words: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{words[side]})" for name, side in _NAMED.items())


_WORDS_BEFORE = re.compile(rf"(?<!\w)(?:{_pattern(_BEFORE)}) ?$")
_WORDS_AFTER = re.compile(rf" ?(?:{_pattern(_AFTER)})(?!\w)")


def limited(found: Found, folded: Key, start: int, end: int) -> Found:
    """The find as a threshold, if words of a limit stand beside it; `start` and `end` are its place in `folded`."""
    if found.kind not in LIMITED:
        return found
    before = _WORDS_BEFORE.search(folded.text, max(0, start - _REACH), start)
    # "5 yıldan fazla": a unit may hold the suffix that belongs to the limit
    after = (
        None if before else _WORDS_AFTER.match(folded.text, end) or _WORDS_AFTER.match(folded.text, end - 3)
    )
    words = before or after
    if words is None:
        return found
    side = _NAMED[str(words.lastgroup)]
    place = folded.span(before.start(), end) if before else folded.span(start, words.end())
    return replace(
        found,
        kind="threshold",
        start=place[0],
        end=place[1],
        readings=tuple(f"{side} {one}" for one in found.readings),
    )
