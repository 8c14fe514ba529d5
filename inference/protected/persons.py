"""Facts about a person (birth, family, service, health …), which may neither change nor be told apart from their words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.protected_attributes import find_attributes
from nekibu.language.turkish import fold

_MAYBE = re.compile(
    r"ad[ıi]?\b|isim|soyad|name|do[ğg]|birth|born|dob|d\.|ya[şs]|age|year|y\.?o|cinsiyet|sex|gender|medeni|marital|civil|[çc]ocu|child|asker|milit|"
    r"terhis|tecil|uyru|vatanda|milliyet|nation|citizen|din|mezhep|mezheb|relig|etnik|[ıi]rk|ethnic|race|engel|sa[ğg]l[ıi]k|kan grubu|boy|kilo|disab|"
    r"health|blood|height|weight|sendika|siyasi|dernek|[üu]ye|union|politic|adli|sab[ıi]ka|criminal|adres|ikamet|address|resid|evli|bekar|dul\b|"
    r"married|single|divorc|widow|m[üu]sl|hristiyan|yahudi|alevi|sunni|ateist|christian|jewish|hindu|atheist|parti|hamile|pregnan|rh|kad[ıi]n|erkek|"
    r"bay|female|male|t\.c|mah|cad|cd\.|bulvar|blv|sok|sk\.|street|st\.|avenue|ave|road|rd|lane|boulevard"
)


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """Every stretch of a clause that tells something about a person; canonical is the folded stretch."""
    if not _MAYBE.search(clause.replace("I", "ı").replace("İ", "i").lower()):
        return
    reached = 0
    for fact in find_attributes(clause):  # by start, the longest first
        if fact.end <= reached:
            continue
        reached = fact.end
        yield Found(
            "person_fact", fact.start, fact.end, (f"{fact.kind}: {fold(clause[fact.start : fact.end])}",)
        )
