"""Protected attributes in a CV, found to be hidden and never to be stored: birth, sex, family, service, belief, health."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nekibu.language.turkish import Key, key

AttributeKind = Literal[
    "name", "birth", "age", "sex", "marital_status", "military_service", "nationality", "religion", "ethnicity",
    "health", "belief_or_membership", "criminal_record", "address",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attribute:
    """A stretch that tells a protected attribute."""

    kind: AttributeKind
    start: int
    end: int


# Words before a value. A colon, a dash or at least a blank with a value of the expected form must follow.
_LABELS: dict[AttributeKind, str] = {
    "name": r"(?:ad(?:i)? ?(?:ve |/ ?|, ?)?soyad(?:i)?|isim(?: soyisim)?|(?:full |first |last |sur)?name(?: surname)?|soyad(?:i)?)",
    "birth": r"(?:dogum (?:tarihi|yeri|yili|bilgileri)(?: ?(?:ve|/|-|,) ?(?:dogum )?(?:tarihi|yeri))?|dogum|d\.? ?tarihi|d\.t\.|"
    r"date of birth|birth ?date|d\.?o\.?b\.?|place of birth|birth ?place|born(?: on| in)?|year of birth)",
    "age": r"(?:yas(?:i)?|age)",
    "sex": r"(?:cinsiyet(?:i)?|sex|gender)",
    "marital_status": r"(?:medeni (?:hal|durum)(?:i|u)?|marital status|civil status|cocuk sayisi|(?:number of )?children)",
    "military_service": r"(?:askerlik(?: (?:durumu|hizmeti|gorevi|tarihi))?|military(?: (?:service|status|obligation))*)",
    "nationality": r"(?:uyru(?:k|gu|klugu)|vatandaslik|vatandasligi|milliyet(?:i)?|nationality|citizenship)",
    "religion": r"(?:din(?:i)?|dini inanc|mezhep|mezhebi|religion)",
    "ethnicity": r"(?:etnik koken(?:i)?|irk(?:i)?|ethnicity|ethnic origin|race)",
    "health": r"(?:engel(?:lilik)?(?: durumu| orani)?|saglik durumu|kan grubu|boy ?/ ?kilo|boy|kilo|disabilit(?:y|ies)|"
    r"health(?: status)?|blood (?:group|type)|height(?: ?/ ?weight)?|weight)",
    "belief_or_membership": r"(?:sendika(?: uyeligi)?|siyasi (?:gorus|parti)\w*|dernek uyeli\w+|uye(?:lik)? ?olunan \w+|union membership|"
    r"political (?:views|party))",
    "criminal_record": r"(?:adli sicil(?: kaydi)?|sabika(?: kaydi)?|criminal record)",
    "address": r"(?:(?:ev |ikamet(?:gah)? |acik )?adres(?:i|im)?|ikamet(?:gah)?|(?:home |postal )?address|residence)",
}  # fmt: skip


def _guard(kind: AttributeKind) -> str:
    """`Company name:` and `IP address:` are not about the person."""
    return r"(?<![^\W\d_] )" if kind in ("name", "address") else ""


_ANY_LABEL = "|".join(_LABELS.values())
_LABELLED = {
    kind: re.compile(
        rf"(?<![\w']){_guard(kind)}(?P<label>{words})(?P<gap>[ \t]*(?:\([^)\n]{{0,20}}\))?[ \t]*[:=][ \t\-]*|[ \t]*\t[ \t]*| - )"
        rf"(?P<value>[^\n|•;\t]*?)(?=[ ]*(?:$|\n|[|•;\t]| {{3,}}|[,\-/]? ?\b(?:{_ANY_LABEL})[ \t]*:))"
    )
    for kind, words in _LABELS.items()
}
_OWN_LINE = {kind: re.compile(rf"(?:^|\n)[ \t•\-]*(?P<label>{words})[ \t]*:?[ \t]*\n[ \t]*(?P<value>[^\n]{{1,60}})") for kind, words in _LABELS.items()}  # fmt: skip

# Sentences and lone words that tell an attribute without a label.
_DAY = r"(?:\d{1,2}[./ ]\d{1,2}[./ ]|\d{1,2} \w+ )?(?:19[3-9]\d|20[01]\d)"
_INLINE: tuple[tuple[AttributeKind, str], ...] = (
    ("birth", rf"{_DAY}(?:'?\w{{1,3}})?(?: yilinda)?(?:,? [a-z]+(?:'?[dt][ae])?)? dogum(?:lu|luyum|ludur)\w*"),
    ("birth", rf"{_DAY}(?:'?\w{{1,3}})?(?: yilinda)? (?:[a-z]+'?[dt][ae] )?(?:dogdum|dunyaya gel\w+)"),
    ("birth", rf"\b(?:i was )?born (?:on |in )?(?:{_DAY}|\w+ \d{{1,2}},? \d{{4}}|[a-z]+)(?: in [a-z]+)?"),
    ("birth", r"\bd\. ?(?:19[3-9]\d|20[01]\d)\b"),
    ("birth", rf"\b(?:d\. ?t\.|dob|d\.o\.b\.|date of birth|dogum (?:tarihi|yili))[ :\-]{{1,3}}{_DAY}"),
    ("age", r"\bage[ :]{1,2}[1-7]\d\b"),
    ("age", r"\b(?:[1-7]\d) (?:yasinda\w*|years old|y\.?o\.?)\b|\b(?:[1-7]\d)-year-old\b"),
    ("marital_status", r"\b(?:evliyim|bekarim|evli ve \w+ cocuk\w*(?: \w+)?|\w+ cocuk (?:babasi|annesi|sahibi)\w*|married with \w+ (?:children|kids|child)|(?:father|mother) of \w+)\b"),
    ("marital_status", r"\b(?:married|single|divorced|evliyim|evli)[,;]? (?:ve |and |with )?\w+ (?:children|kids|child|cocu[kg]\w*)\b|\b(?:\d|bir|iki|uc|one|two|three) (?:cocugum|cocukluyum|cocuk sahibi\w*)"),
    ("religion", r"\b(?:musluman|hristiyan|yahudi|alevi|sunni|ateist)(?:im|yim|dir)\b|\bi am (?:a |an )?(?:muslim|christian|jewish|hindu|atheist)\b"),
    ("belief_or_membership", r"\bsendika\w* uye\w*|\b(?:trade |labou?r )?union member\w*|\b[\w ]{0,20}\bparti(?:si)? uyesi\w*"),
    ("health", r"\bengelli degilim\b|\bhamile(?:yim|lik)\w*|\bi am (?:pregnant|disabled)\b"),
    ("military_service", r"\baskerli(?:k|g)\w*[^\n|•;,.]*|\b(?:terhis(?:li)?|tecilli)\b[^\n|•;,.]*|\b(?:completed|exempt from|postponed) (?:my |the )?military service\b"),
    ("nationality", r"\b(?:t\.?c\.? vatandasi\w*|(?:turkish|german|british|us|eu|\w+ian|\w+ish) (?:citizen|national)\b)"),
    ("health", r"(?:%|\byuzde) ?\d{1,2} (?:oraninda )?engelli\w*|\bengelli(?:yim| kadro\w*| raporu\w*| birey olarak)\b|\b(?:ab|a|b|0) ?rh ?[+\-(]\S{0,2}"),
    ("address", r"\b\d{1,5}[a-z]? (?:[a-z]+ ){1,3}(?:street|st\.|avenue|ave\.?|road|rd\.?|lane|boulevard)\b[^\n|•]*"),
)  # fmt: skip
_STREET = re.compile(r"\b(?:mah(?:\.|allesi)|cad(?:\.|desi)|cd\.|bulvari|blv\.|sok(?:\.|ak\b|agi)|sk\.)")
_DOOR = re.compile(r"\bno ?[:.]? ?\d|\bdaire|\bd ?[:.] ?\d|\bkat\b|\bapt|/ ?[a-z]+|\b\d{5}\b")
_ADDRESS_STOP = re.compile(r"\b(?:19|20)\d\d\b|@|\b(?:tel|gsm|cep|e-?posta|e-?mail)|\+\d|;|\t| {3,}| - ")
_INLINES = tuple((kind, re.compile(pattern)) for kind, pattern in _INLINE)
_LONE: dict[str, AttributeKind] = {
    "kadin": "sex", "erkek": "sex", "bayan": "sex", "bay": "sex", "female": "sex", "male": "sex",
    "evli": "marital_status", "bekar": "marital_status", "bosanmis": "marital_status", "dul": "marital_status",
    "married": "marital_status", "single": "marital_status", "divorced": "marital_status", "widowed": "marital_status",
    "muslim": "religion", "musluman": "religion", "christian": "religion", "hristiyan": "religion", "alevi": "religion",
    "sunni": "religion", "t.c.": "nationality", "turkish citizen": "nationality",
}  # fmt: skip
_FIELD = re.compile(r"[^\n|•;,\t/]+")


def find_attributes(text: str) -> list[Attribute]:
    """Every stretch that tells a protected attribute, label included where the label itself tells it."""
    folded = key(text, collapse=False)
    spans = [*_labelled(folded), *_inline(folded), *_lone(folded), *_streets(folded)]
    found = [Attribute(kind, *folded.span(start, end)) for kind, start, end in spans if start < end]
    return sorted(found, key=lambda one: (one.start, -one.end))


def _labelled(folded: Key) -> Iterator[tuple[AttributeKind, int, int]]:
    for kind in _LABELS:
        for pattern in (_LABELLED[kind], _OWN_LINE[kind]):
            for match in pattern.finditer(folded.text):
                value = match["value"]
                if not _fits(kind, value):
                    continue
                # "Askerlik: …" tells the sex by its label alone.
                start = match.start("label") if kind == "military_service" else match.start("value")
                yield kind, start, match.start("value") + len(value.rstrip(" ,-"))


def _fits(kind: AttributeKind, value: str) -> bool:
    if not value.strip() or re.match(rf"\s*(?:{_ANY_LABEL})\s*:", value):
        return False
    if kind == "age":
        return bool(re.match(r"\d{2}\b", value))
    if kind == "name":
        return not re.search(r"\d|@|\b(?:a\.s|ltd|university|universite)", value) and len(value) < 60
    if kind == "address":
        return "@" not in value and "www" not in value and not value.startswith("http")
    return True


def _inline(folded: Key) -> Iterator[tuple[AttributeKind, int, int]]:
    for kind, pattern in _INLINES:
        for match in pattern.finditer(folded.text):
            start, end = match.span()
            lead = len(match.group()) - len(match.group().lstrip(" \t-"))
            yield kind, start + lead, end


def _lone(folded: Key) -> Iterator[tuple[AttributeKind, int, int]]:
    """Words such as `Evli` that fill a field of their own; inside a sentence they may mean something else."""
    for match in _FIELD.finditer(folded.text):
        word = match.group().strip(" .:-()")
        kind = _LONE.get(word) or _LONE.get(match.group().strip())
        if kind and word:
            start = match.start() + match.group().index(word)
            yield kind, start, start + len(word)


def _streets(folded: Key) -> Iterator[tuple[AttributeKind, int, int]]:
    """An unlabelled street address: a word for quarter or street together with another sign of an address."""
    for line in re.finditer(r"[^\n|•]+", folded.text):
        streets: list[re.Match[str]] = []
        for street in _STREET.finditer(line.group()):
            if streets and street.start() - streets[-1].end() > 40:
                break  # the streets of a sentence, not of an address
            streets.append(street)
        if not streets:
            continue
        first, last = streets[0], streets[-1]
        rest = line.group()[last.end() : last.end() + 80]
        stop = _ADDRESS_STOP.search(rest)
        rest = rest[: stop.start()] if stop else rest
        if not _DOOR.search(rest) and not (len(streets) > 1 and first.group().startswith("mah")):
            continue
        lead = re.search(r"(?:[^\s,:;]+ ){0,3}$", line.group()[: first.start()])
        start = line.start() + (lead.start() if lead else first.start())
        yield "address", start, line.start() + last.end() + len(rest.rstrip(" ,-("))
