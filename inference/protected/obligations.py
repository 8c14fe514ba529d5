"""Obligations and exceptions: a modal or excluding word protects the whole clause that it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.turkish import fold, lower

_LETTER = "[a-zçğıöşüâîû]"
_MUST = re.compile(
    # -malıdır, -melidir anywhere; -malı, -meli where the sentence ends: "uygulamalı eğitim" obliges nobody
    rf"{_LETTER}{{2,}}(?:malı|meli)(?:d[ıi]r(?:l[ae]r)?|(?:y[ıi]z|s[ıi]n(?:[ıi]z)?|lar|ler)?(?=\s*(?:[.;:!?)]|$)))"
    rf"|{_LETTER}{{1,}}(?:acakt[ıi]r|ecektir)(?:lar|ler)?(?!\w)"
    rf"|{_LETTER}{{2,}}(?:[ae]ma[zy]|[ae]mez|[ıiuü]lamaz|[ıiuü]lemez)(?:lar|ler)?(?!\w)"
    r"|(?<!\w)(?:zorunda|zorunlu|mecbur|y[üu]k[üu]ml[üu]|m[üu]kellef|gerekir|gerekmekte|gerekli|[şs]artt[ıi]r|yasak|memnu|taahh[üu]t|bor[çc]ludur)\w*"
    r"|(?<!\w)(?:must|shall|may not|required to|is required|are required|obliged to|obligated to|undertakes? to|has to|have to)(?!\w)"
)
_EXCEPT = re.compile(
    r"(?<!\w)(?:hari[çc]\w*|d[ıi][şs][ıi]nda(?:ki\w*)?|istisna\w*|m[üu]stesna\w*|muaf\w*|sakl[ıi](?:d[ıi]r)?|aksi (?:takdirde|halde)|ancak|me[ğg]er ki|"
    r"[şs]u kadar ki|kayd[ıi]yla|[şs]art[ıi]yla|ko[şs]uluyla|s[üu]rece|yaln[ıi]zca)(?!\w)"
    rf"|{_LETTER}{{1,}}m[ae]d[ıi]k[çc][ae](?!\w)"
    r"|(?<!\w)(?:except(?:ing|ion|ions)?|exclud(?:es|ed|ing)|exclusive of|unless|provided that|other than|save (?:for|that)|notwithstanding|"
    r"subject to|exempt\w*|without prejudice)(?!\w)"
)
_MAYBE = re.compile(
    r"mal[ıi]|meli|t[ıi]r|amaz|emez|zorun|mecbur|y[üu]k[üu]ml|m[üu]kellef|gerek|[şs]art|yasak|memnu|taahh|bor[çc]lu|must|shall|may not|required|oblig|"
    r"undertake|has to|have to|hari|d[ıi][şs][ıi]nda|istisna|m[üu]stesna|muaf|sakl[ıi]|aksi|ancak|me[ğg]er|kadar ki|kayd|ko[şs]ul|s[üu]rece|yaln[ıi]z|"
    r"d[ıi]k[çc][ae]|except|exclu|unless|provided|other than|save|notwith|subject|exempt|prejudice"
)


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """The clause as an obligation, as an exception, as both, or as neither. Canonical is the folded clause."""
    lowered = lower(clause)
    if not _MAYBE.search(lowered):
        return
    start, end = len(clause) - len(clause.lstrip()), len(clause.rstrip())
    said = (fold(clause),)
    if _MUST.search(lowered):
        yield Found("obligation", start, end, said)
    if _EXCEPT.search(lowered):
        yield Found("exception", start, end, said)
