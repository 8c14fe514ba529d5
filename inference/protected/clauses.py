"""Where a text may be cut: at the end of a sentence, after a semicolon, before a bullet. Blanks decide nothing."""

from __future__ import annotations

import re
from itertools import pairwise

_CUT = re.compile(
    r"(?:(?P<word>[^\W\d_]{2,})|(?<=\d{3})|(?<=[)\]\"”’%‰₺$€£*]))[.!?…]+[)\]\"”’]*(?P<gap> )(?=[\"“‘(\[•–\-]?[A-ZÇĞİÖŞÜÂÎÛ])"
    r"|;(?P<after> )|(?P<bullet> )(?=[•▪●‣◦] )"
)
# A point after these is a part of the word: `No. 12`, `Dr. Şahin`, `Mad. 4`.
_SHORT_WORDS = (
    "no nr dr av prof doç yrd öğr öğrt uzm müh mim mah cad cd sok sk bulv blv apt dai kat tel fax faks gsm şti ltd san tic "
    "inc corp co llc vb vs vd bkz örn md mad art sec fig st mr mrs ms jr sr eng asst dept hz sn yy yrs mos approx para "
    "oca şub mar nis may haz tem ağu eyl eki kas ara jan feb apr jun jul aug sep sept oct nov dec vol pp ed"
)
_SHORT = frozenset(_SHORT_WORDS.split())


def clauses(text: str) -> list[tuple[int, int]]:
    """The clauses of a text: they tile it, and each is found again when it stands alone."""
    level, places = levelled(text)
    starts = [0, *(places[cut] for cut in _cuts(level) if cut < len(level))]
    return [(start, end) for start, end in pairwise([*starts, len(text)]) if start < end]


def levelled(text: str) -> tuple[str, list[int]]:
    """The text with one blank for every run of white space, and where each character stood.

    So idle blanks decide nothing: what is found before they are taken out is found after it.
    """
    places = [at for at, char in enumerate(text) if not char.isspace() or not text[at - 1 : at].isspace()]
    return "".join(" " if text[at].isspace() else text[at] for at in places), places


def tiles(level: str) -> list[tuple[int, int]]:
    """The clauses of a levelled text."""
    return [(start, end) for start, end in pairwise([0, *_cuts(level), len(level)]) if start < end]


def _cuts(level: str) -> list[int]:
    return [match.end() for match in _CUT.finditer(level) if not _is_short(match)]


def _is_short(match: re.Match[str]) -> bool:
    word = match["word"]
    return word is not None and word.lower() in _SHORT and match[0][len(word)] == "."
