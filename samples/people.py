"""Invented people, firms and schools: surnames and firm names that belong to nobody, reserved numbers only."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass, replace

FIRST_TR = (
    "Çağrı", "Işıl", "İlkay", "Yiğit", "Şule", "Gökçe", "Oğuz", "Irmak", "Ümit", "İpek", "Kıvanç", "Özge",
    "Ilgın", "Barış", "Elif", "Tuğba", "Deniz", "Mısra",
)  # fmt: skip
LAST_TR = (
    "Taşpınarcı", "İnceırmak", "Gökderevi", "Karaçınarlı", "Şenırmaklı", "Yeşilobalı", "Çığırova", "Işıkdereli",
    "Özgümüşova", "Ağaçbükü", "Dağıstanova", "Kızılkıyı", "İğdebelen", "Uğurtepeci",
)  # fmt: skip
FIRST_EN = ("Maren", "Tobin", "Ailsa", "Corwin", "Nerys", "Jorah", "Linnea", "Piers", "Ottilie", "Rowan")
LAST_EN = ("Thornquist", "Ashmarrow", "Velloway", "Brackenford", "Quillmere", "Hollinrake-Dunn", "Wyndlesham")

FIRMS_TR = (
    "Virelon Otomotiv A.Ş.", "Pelinoba Gıda Sanayi A.Ş.", "Karaçınar Döküm Ltd. Şti.", "Sırtoba Kimya A.Ş.",
    "Mavikıyı Lojistik A.Ş.", "Ertuna Ambalaj Ltd. Şti.", "Yediova Tekstil A.Ş.", "Işıkbükü Elektronik A.Ş.",
    "Bozdere Makina Ltd. Şti.", "Göldağ Enerji A.Ş.",
)  # fmt: skip
FIRMS_EN = (
    "Virelon Automotive", "Halden & Marsh Foods", "Orrick Castings", "Northmere Chemicals", "Saltgate Logistics",
    "Fennimore Packaging", "Brightwater Systems", "Tallow Lane Software", "Kestrel Ledger", "Copperfield Data",
)  # fmt: skip
SCHOOLS_TR = (
    "Ege Kıyı Üniversitesi",
    "Sakarbaşı Teknik Üniversitesi",
    "Bozkır Üniversitesi",
    "Güneydere Üniversitesi",
)
SCHOOLS_EN = (
    "Northmere University",
    "Saltgate Institute of Technology",
    "University of Wyndle",
    "Harrow Bay College",
)
CITIES_TR = ("İzmir", "Bursa", "Kocaeli", "Ankara", "İstanbul", "Eskişehir", "Iğdır")
CITIES_EN = ("Leeds", "Izmir", "Rotterdam", "Bristol", "Istanbul", "Gdansk")


@dataclass(frozen=True, slots=True)
class Person:
    """Who the CV belongs to; `phone` as written on the page, `phone_e164` as it must be recognised."""

    first: str
    last: str
    email: str
    phone: str
    phone_e164: str
    city: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


def ascii_slug(text: str) -> str:
    """Lower-case ASCII letters of a Turkish or English name, for the local part of an address."""
    plain = text.replace("ı", "i").replace("İ", "I")
    kept = unicodedata.normalize("NFD", plain)
    return "".join(c for c in kept.lower() if c.isascii() and c.isalnum())


def invent(rng: random.Random, language: str, number: int, taken: set[str]) -> Person:
    """A person whose name is not `taken` and whose number lies in a range kept for fiction.

    0555 000 for Turkish CVs, the British 07700 900 for English ones. Where the lists are used up, a name
    returns with a numbered address, because an address is one person.
    """
    for _ in range(50):
        person = _invent(rng, language, number)
        if person.name not in taken:
            taken.add(person.name)
            return person
    return replace(person, email=person.email.replace("@", f"{number}@"))


def _invent(rng: random.Random, language: str, number: int) -> Person:
    if language == "tr":
        first, last, city = rng.choice(FIRST_TR), rng.choice(LAST_TR), rng.choice(CITIES_TR)
        tail = f"{number % 10000:04d}"
        digits = f"000{tail}"
        style = rng.choice(("+90 555 {a} {b} {c}", "0555 {a} {b} {c}", "(0555) {a}-{b}-{c}"))
        phone = style.format(a=digits[:3], b=digits[3:5], c=digits[5:])
        e164 = f"+90555{digits}"
    else:
        first, last, city = rng.choice(FIRST_EN), rng.choice(LAST_EN), rng.choice(CITIES_EN)
        tail = f"{number % 1000:03d}"
        phone, e164 = f"+44 7700 900{tail}", f"+447700900{tail}"
    email = f"{ascii_slug(first)}.{ascii_slug(last)}@example.com"
    return Person(first, last, email, phone, e164, city)
