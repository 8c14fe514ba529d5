"""Driving licence classes and professional certificates that a CV states, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nekibu.language.terms import find_terms
from nekibu.language.turkish import key

NO_LICENCE = "none"


@dataclass(frozen=True, slots=True)
class Licence:
    """A stated driving licence class; `none` where the CV says that there is no licence."""

    licence_class: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate named in the text, under its usual short name."""

    name: str
    start: int
    end: int


CLASSES = (
    "AM",
    "A1",
    "A2",
    "A",
    "B1",
    "BE",
    "B",
    "C1E",
    "C1",
    "CE",
    "C",
    "D1E",
    "D1",
    "DE",
    "D",
    "E",
    "F",
    "G",
    "M",
    "K",
)
_CLASS = f"(?:{'|'.join(CLASSES).lower()})"
_CUE = r"(?:(?:surucu|suruculuk) (?:belge|ehliyet)\w*|ehliyet\w*|driv(?:ing|er'?s?) licen[cs]es?)"
_GAP = r"(?: ?(?:,|/|&|ve|and|\+) ?|-)"
_LIST = rf"{_CLASS}(?:{_GAP}{_CLASS}){{0,9}}"
_AFTER = re.compile(
    rf"\b(?P<cue>{_CUE})(?P<words>[ \t]*(?:\(|:|-|\||,)?[ \t]*(?:(?:var|mevcut|evet|yes|full|valid|held|my|is|sinifi?|turu|tipi|class(?:es)?|category|categories|type)[ \t]*[:(,\-]?[ \t]*){{0,3}})"
    rf"(?P<list>{_LIST})(?![\w'])(?P<marked>[ \-]*(?:sinif\w*|class))?"
)
_BEFORE = re.compile(
    rf"(?<![\w.])(?P<list>{_LIST})(?![\w])(?P<marked>[ \-]*(?:sinif\w*|tipi?|class|category)?)[ \-]+(?:aktif |full |valid |gecerli )*{_CUE}"
)
_ON_NEXT_LINE = re.compile(
    rf"\b{_CUE}[ \t]*(?:(?:sinifi?|class|turu)[ \t]*)?:?[ \t]*\n[ \t]*(?P<list>{_LIST})(?=[ \t]*(?:\n|\(|$))"
)
_CLASS_FIRST = re.compile(rf"\b(?:class|category)[ \-](?P<list>{_LIST})(?!\w) (?:full |valid )*{_CUE}")
_TOLD = re.compile(r"[:(|]|sinif|class|categor|tipi|turu")
_NONE = re.compile(
    rf"\b{_CUE}[ \t]*(?:\(|:|-|\|)?[ \t]*(?:yok\w*|bulunmuyor|bulunmamaktadir|none|no\b|hayir|n/a)|"
    rf"\b(?:no|without(?: a)?|does not (?:hold|have)(?: a)?|do not (?:hold|have)(?: a)?) (?:valid )?{_CUE}"
)

CERTIFICATES: Mapping[str, tuple[str, ...]] = {
    "PMP": ("PMP", "Project Management Professional"),
    "PRINCE2": ("PRINCE2",),
    "SMMM": ("SMMM", "Serbest Muhasebeci Mali Müşavir", "S.M.M.M."),
    "YMM": ("YMM", "Yeminli Mali Müşavir"),
    "SPK": ("SPK lisansı", "SPL lisansı", "SPK Düzey 3", "SPK İleri Düzey"),
    "CPA": ("CPA", "Certified Public Accountant"),
    "ACCA": ("ACCA",),
    "CFA": ("CFA", "Chartered Financial Analyst"),
    "CIA": ("Certified Internal Auditor",),
    "CISA": ("CISA",),
    "CISM": ("CISM",),
    "CISSP": ("CISSP",),
    "ITIL": ("ITIL",),
    "CCNA": ("CCNA",),
    "CCNP": ("CCNP",),
    "CIPS": ("CIPS", "MCIPS"),
    "CSM": ("CSM", "Certified ScrumMaster", "Certified Scrum Master"),
    "PSM": ("PSM I", "PSM II", "Professional Scrum Master"),
    "Six Sigma": ("Six Sigma", "6 Sigma", "Altı Sigma"),
    "AWS Certified": ("AWS Certified",),
    "CKA": ("CKA", "Certified Kubernetes Administrator"),
    "İSG": ("İş Güvenliği Uzmanlığı", "İş Güvenliği Uzmanı", "İSG Uzmanlığı"),
    "SRC": ("SRC belgesi", "SRC 1", "SRC 2", "SRC 3", "SRC 4", "SRC 5"),
}
_ISO = re.compile(
    r"(?<![A-Za-z])ISO(?:/IEC)?[ \-:]?(?P<number>\d{4,5})(?:-\d+)?(?:[ ]?:[ ]?(?P<year>20\d\d))?(?!\d)"
)


def find_licences(text: str) -> list[Licence]:
    """Every stated class, one value each: `Sürücü belgesi: B, C` gives two. A licence without a class is none."""
    folded = key(text, collapse=False)
    found: list[Licence] = []
    denied = [folded.span(*match.span()) for match in _NONE.finditer(folded.text)]
    for pattern in (_AFTER, _ON_NEXT_LINE, _CLASS_FIRST, _BEFORE):
        for match in pattern.finditer(folded.text):
            parts = match.groupdict(default="")
            start, end = folded.span(*match.span("list"))
            told = parts.get("marked", "").strip() or _TOLD.search(parts.get("words", ""))
            if not told and not re.sub(r"\b(?:ve|and)\b", "", text[start:end]).isupper():
                continue  # "ehliyet ve e posta"
            whole = folded.span(*match.span())
            if any(start < whole[1] and whole[0] < end for start, end in denied):
                continue  # "B sınıfı ehliyetim yok"
            for name in re.split(_GAP, match["list"]):
                if not any(
                    one.licence_class == name.upper() and one.start < whole[1] and whole[0] < one.end
                    for one in found
                ):
                    found.append(Licence(name.upper(), *whole))
    found += [Licence(NO_LICENCE, *span) for span in denied]
    return sorted(found, key=lambda one: (one.start, one.licence_class))


def find_licence_mentions(text: str) -> list[tuple[int, int]]:
    """Every place that names a driving licence, with or without its class."""
    folded = key(text, collapse=False)
    return [folded.span(*match.span()) for match in re.finditer(rf"\b{_CUE}", folded.text)]


def find_certificates(text: str, more: Iterable[str] = ()) -> list[Certificate]:
    """Certificates of the usual list, ISO standards, and any `more` that a rubric names, in text order."""
    names = {alias: name for name, aliases in CERTIFICATES.items() for alias in aliases}
    names.update({term: term for term in more})
    found = [Certificate(names[match.term], match.start, match.end) for match in find_terms(text, names)]
    found += [Certificate(f"ISO {match['number']}", *match.span()) for match in _ISO.finditer(text)]
    unique = {(one.name, one.start): one for one in sorted(found, key=lambda one: one.end)}
    return sorted(unique.values(), key=lambda one: (one.start, one.name))
