"""Where a paragraph may be cut into citable pieces: at the ends of its sentences, never at an abbreviation or a date."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nekibu.language.turkish import fold

LONGEST = 600
BULLETS = "•‣◦⁃∙●○▪▫■□◆◇►▶➢➤✓✔✗–—*·\uf0b7\uf0a7\uf0d8\uf0fc\uf076-"

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)")
_SHORT = (
    "vb vs vd bkz orn yy no nr tel tic san ltd sti as a.s ao koop dr prof doc yrd yrd.doc av muh uzm ogr gor op "
    "mr mrs ms st sr jr inc co corp etc e.g i.e eg ie cf al approx dept univ fak bol mah cad sok sk apt kat blv "
    "bul alb yzb ecz hz age a.g.e t.c tc m.s mo ss s sf sy max min ort yak ing alm fr jan feb mar apr jun jul aug "
    "sep sept oct nov dec oca sub nis haz tem agu eyl eki kas ara ph.d b.sc m.sc bsc msc"
)
_ABBREVIATIONS = frozenset(_SHORT.split())
_BULLET_LINE = re.compile(
    rf"\s*(?:[{re.escape(BULLETS)}](?=\s)|[•●▪■►➢➤✓✔\uf0b7\uf0a7\uf0d8]|(?:\d{{1,2}}|[a-zçğıöşü])[.)]\s)"
)


def is_item(line: str) -> bool:
    """Whether a line begins as a list item does: with a bullet, a number or a letter."""
    return _BULLET_LINE.match(line) is not None


def spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]` as spans without white space at their edges, none of them empty."""
    begin = start
    for match in _END.finditer(text, start, end):
        if _ends(text, begin, match, end):
            yield from _pared(text, begin, match.end())
            begin = match.end()
    yield from _pared(text, begin, end)


def _ends(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    following = text[match.end() : end].lstrip()
    if not following or following[0].islower():
        return False
    if match.group()[0] != ".":
        return True
    before = text[begin : match.start()].rsplit(None, 1)
    word = before[-1].lstrip("(\"'“‘[") if before else ""
    if not word or (len(word) == 1 and word.isalpha()):
        return False
    if word.isdigit():
        return len(word) == 4 and not following[0].isdigit()
    if re.fullmatch(r"(?:\d{1,2}\.)+\d{1,2}", word) and following[0].isdigit():
        return False
    return fold(word) not in _ABBREVIATIONS and not re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word)


def _pared(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while True:
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start == end:
            return
        if end - start <= LONGEST:
            yield start, end
            return
        cut = max(text.rfind(sign, start + LONGEST // 2, start + LONGEST) for sign in " \n\t")
        cut = cut if cut > start else start + LONGEST
        yield from _pared(text, start, cut)
        start = cut
