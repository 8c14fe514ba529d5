"""The sections of a CV by their headings, and which intervals of a CV are work."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nekibu.language.intervals import Interval, intervals
from nekibu.language.partial_dates import points
from nekibu.language.turkish import fold, key

SectionKind = Literal[
    "summary", "personal", "experience", "internship", "education", "training", "skills", "languages",
    "certificates", "projects", "military", "volunteering", "publications", "awards", "memberships", "references",
    "interests", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a CV from its heading to the next one."""

    kind: SectionKind
    start: int
    end: int
    heading_end: int


_HEADINGS: dict[SectionKind, str] = {
    "summary": r"(?:kariyer |profesyonel )?(?:ozet|hedef)\w*|hakkimda|(?:kisisel |profesyonel )?profil|(?:professional |career )?(?:summary|objective)|"
    r"(?:professional |personal )?profile|about(?: me)?",
    "personal": r"(?:kisisel|kimlik|iletisim) bilgi\w*|iletisim|personal (?:details|information|data)|contact(?: (?:details|information))?",
    "internship": r"staj(?:lar|lari|larim| deneyim\w*| bilgi\w*)?|internships?(?: experience)?",
    "experience": r"(?:(?:is|mesleki|profesyonel|calisma|kariyer|kurumsal|sektorel|is ve staj) )?(?:deneyim|tecrube)\w*(?: bilgi\w*)?|"
    r"(?:calisma|is|mesleki|kariyer) (?:gecmis\w*|hayat\w*)|kariyer|serbest calisma\w*|freelance(?: (?:work|projects|experience|isler))?|"
    r"(?:(?:professional|work|relevant|career|employment|additional|industry) )?experiences?(?: (?:and|&) \w+)?|"
    r"(?:employment|work|career|professional)(?: (?:history|background))|employment|work|career",
    "education": r"(?:egitim|ogrenim|akademik|okul|mezuniyet)(?: (?:bilgi|durum|gecmis|hayat)\w*)?|education(?:al)?(?: (?:background|history|details))?|"
    r"academic (?:background|history|qualifications)|(?:egitim|education)(?: ve | and |/| & )\w+",
    "training": r"kurs\w*(?: ve (?:seminer|egitim|sertifika)\w*)?|seminer\w*(?: ve kurs\w*)?|egitimler(?:im)?|(?:aldigi|katildigi)m? egitimler|"
    r"training(?:s)?(?: and \w+)?|(?:training )?courses?",
    "skills": r"(?:(?:teknik|bilgisayar|mesleki|kisisel|temel) )?(?:yetenek|yetkinlik|beceri)\w*|(?:bilgisayar|yazilim|program) bilgi\w*|"
    r"(?:kullanilan |bilgisayar )?program(?:lar|lari)|(?:[a-z]+ )?(?:skills|competenc\w+)(?: (?:and|&) \w+| \w+)?|teknolojiler|technologies|"
    r"tools(?: (?:and|&) \w+)?|tech(?:nology)? stack|araclar",
    "languages": r"(?:yabanci )?dil(?:ler|leri)?(?: (?:bilgi|beceri|yetkinlik)\w*)?|yabanci dil(?:ler)?|(?:foreign )?languages?(?: skills)?",
    "certificates": r"(?:sertifika|belge|lisans ve sertifika)\w*(?: ve \w+)?|certificat\w+(?: (?:and|&) \w+)?|licen[cs]es?(?: (?:and|&) certificat\w+)?",
    "projects": r"(?:(?:secili|onemli|kisisel|akademik) )?proje(?:ler|lerim|leri)?|(?:(?:key|selected|personal|academic|side) )?projects",
    "military": r"askerlik(?: \w+)?|military(?: service)?",
    "volunteering": r"gonullu\w*(?: \w+)?|sosyal sorumluluk\w*(?: proje\w*)?|volunt\w+(?: \w+)?|community service",
    "publications": r"yayin(?:lar|larim)?|makaleler|publications?",
    "awards": r"odul(?:ler|lerim)?(?: ve \w+)?|basari(?:lar|larim)|awards?(?: (?:and|&) \w+)?|honou?rs(?: (?:and|&) \w+)?|achievements",
    "memberships": r"(?:dernek |mesleki )?uyelik(?:ler|leri|lerim)?|(?:professional )?(?:memberships?|affiliations)",
    "references": r"referans\w*|references?",
    "interests": r"(?:hobi|ilgi alan)\w*(?: ve \w+)?|hobbies(?: and interests)?|interests(?: and hobbies)?",
    "other": r"(?:ek|diger) bilgi\w*|diger|additional information|other(?: information)?|miscellaneous",
}  # fmt: skip
_HEADING = {kind: re.compile(pattern) for kind, pattern in _HEADINGS.items()}
_STUDY = re.compile(
    r"\b(?:universite\w*|universit\w+|fakulte\w*|faculty|yuksekokul\w*|lise(?:si)?|high school|lisans\b|on ?lisans|yuksek lisans|"
    r"doktora|bachelor\w*|master of|master'?s|b\.?sc|m\.?sc|b\.?a\.|mba|phd|mezun\w*|graduat\w+|ogrenci\w*|college|ilkokul|ortaokul)"
)
_SERVICE = re.compile(r"\b(?:askerlik|askerligim\w*|terhis|military service)\b")
_NOT_WORK: frozenset[SectionKind] = frozenset(
    {"education", "training", "military", "volunteering", "publications", "references", "certificates", "interests", "languages", "skills",
     "awards", "memberships"}
)  # fmt: skip
_MAYBE_WORK: frozenset[SectionKind] = frozenset({"projects", "other"})
_INTERNSHIP = re.compile(r"\bstaj(?:yer)?\b|\bintern(?:ship)?\b")
_PRODUCT = re.compile(
    r"\b(?:office|excel|word|access|windows|server|sql|autocad|solidworks|revit|sketchup|photoshop|illustrator|indesign|"
    r"visual studio|sharepoint|exchange|dynamics|catia|matlab|netcad|iso|tse?)[ ]*$"
)
_SENTENCE = re.compile(r"\s*[•‣◦●▪■*\-–]\s|.*[.!?][\"'”’)]*\s*$")
_LONGEST_HEAD = 90
_LONGEST_LINE = 160
_ABOUT_PERSON = re.compile(r"\b(?:dogum\w*|birth|born|guncel\w*|updated?)\b")
_SHORT_MONTHS = re.compile(r"(?<![\d.,])(?:0[1-9]|1[0-2])\.\d\d ?- ?(?:0[1-9]|1[0-2])\.\d\d(?![\d.,])")


def find_sections(text: str) -> list[Section]:
    """The sections in order; a line counts as a heading only if it says nothing else."""
    heads: list[tuple[SectionKind, int, int]] = []
    start = 0
    for line in text.split("\n"):
        kind = _heading_kind(line)
        if kind:
            heads.append((kind, start, start + len(line)))
        start += len(line) + 1
    stops = [*(head[1] for head in heads[1:]), len(text)][: len(heads)]
    return [Section(kind, begin, stop, end) for (kind, begin, end), stop in zip(heads, stops, strict=True)]


def section_at(sections: Sequence[Section], offset: int) -> SectionKind | None:
    """The kind of section in which a place stands; None above the first heading."""
    at = bisect_right(sections, offset, key=lambda section: section.start)
    return sections[at - 1].kind if at else None


def work_intervals(text: str, *, internships: bool = False) -> list[Interval]:
    """The intervals of a CV that are work: not study, training, military service or a certificate's validity.

    Under a heading for work everything counts; elsewhere the words of the line decide. Internships count only
    when asked for, projects never: see `maybe_work_intervals`.
    """
    return [one for one, kind in _intervals(text) if kind == "work" or (internships and kind == "internship")]


def maybe_work_intervals(text: str) -> list[Interval]:
    """Internships, projects and what has no proper heading: whether they are work is not for a rule to say."""
    return [one for one, kind in _intervals(text) if kind != "work"]


def loose_work_dates(text: str) -> list[tuple[int, int]]:
    """Dates that head an employment but belong to no interval that could be read: `Uzman, ACME (2019)`, `30.02.2016 - …`.

    Dates inside sentences and list items tell of an event and are left alone.
    """
    sections = find_sections(text)
    under_heading = any(section.kind == "experience" for section in sections)
    read = bytearray(len(text))
    for one in intervals(text):
        read[one.start_offset : one.end_offset] = b"\x01" * (one.end_offset - one.start_offset)
    folded = key(text, collapse=False)
    places = [
        (point.start, point.end)
        for point in points(folded.text)
        if point.yearless is None and not (point.weak and point.value)
    ] + [match.span() for match in _SHORT_MONTHS.finditer(folded.text)]
    found: list[tuple[int, int]] = []
    for start, end in sorted(folded.span(*place) for place in places):
        kind, line = section_at(sections, start), _line_around(text, start)
        if kind != "experience" and (under_heading or kind is not None):
            continue
        if len(line) > _LONGEST_HEAD or _SENTENCE.match(line) or read[start]:
            continue
        said = fold(line)
        if _SERVICE.search(said) or _ABOUT_PERSON.search(said) or (kind is None and _STUDY.search(said)):
            continue
        if not _names_product(text, start):
            found.append((start, end))
    return found


def _intervals(text: str) -> Iterator[tuple[Interval, Literal["work", "internship", "maybe"]]]:
    """Intervals that are neither study nor anything else that is surely no work, each with what it may be."""
    sections = find_sections(text)
    for stretch in intervals(text):
        kind = section_at(sections, stretch.start_offset)
        line = fold(_line_around(text, stretch.start_offset))
        if kind in _NOT_WORK or _SERVICE.search(line) or _names_product(text, stretch.start_offset):
            continue
        if kind not in ("experience", "internship") and _STUDY.search(line):
            continue
        if kind == "internship" or _INTERNSHIP.search(line):
            yield stretch, "internship"
        else:
            yield stretch, "maybe" if kind in _MAYBE_WORK else "work"


def _names_product(text: str, offset: int) -> bool:
    """Whether the year is a version: `SQL Server 2012-2019`."""
    return bool(_PRODUCT.search(fold(text[max(0, offset - 30) : offset]) + " "))


def _heading_kind(line: str) -> SectionKind | None:
    bare = fold(line).strip(" :.-•*_=#|>▪■●◆")
    if not bare or len(bare) > 45:
        return None
    bare = re.sub(r"^\d{1,2}[.)]\s*|\s*\([^)]*\)$", "", bare)
    if re.fullmatch(r"(?:\w ){3,}\w", bare):
        bare = bare.replace(" ", "")  # D E N E Y İ M
    said = [bare, *re.split(r" ?[/|] ?", bare)]  # "Deneyim / Experience"
    return next(
        (kind for one in said for kind, pattern in _HEADING.items() if pattern.fullmatch(one.strip())), None
    )


def _line_around(text: str, offset: int) -> str:
    """The line of a place, of an endless one only what is near."""
    low, high = max(0, offset - _LONGEST_LINE), min(len(text), offset + _LONGEST_LINE)
    start = text.rfind("\n", low, offset) + 1 or low
    end = text.find("\n", offset, high)
    return text[start : end if end >= 0 else high]
