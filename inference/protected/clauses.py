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
    """The clauses of a text with single blanks: they tile it, and each is found again when it stands alone."""
    cuts = [match.end() for match in _CUT.finditer(text) if not _is_short(match)]
    edges = [0, *cuts, len(text)]
    return [(start, end) for start, end in pairwise(edges) if start < end]


def _is_short(match: re.Match[str]) -> bool:
    word = match["word"]
    return word is not None and word.lower() in _SHORT and match[0][len(word)] == "."
