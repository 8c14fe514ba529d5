"""The sections of a CV, and which of its dates are work."""

from __future__ import annotations

import pytest

from nekibu.language.sections import (
    find_sections,
    loose_work_dates,
    maybe_work_intervals,
    section_at,
    work_intervals,
)


def starts(text: str) -> list[str]:
    return [stretch.start.iso() for stretch in work_intervals(text)]


def test_sections_and_work_are_told_apart() -> None:
    text = (
        "Özet\nYönetici\nİŞ DENEYİMİ\nACME 2019-2024\nÜniversite hastanesi 2015-2019\nStajyer, BETA 2014-2015\n"
        "Eğitim Bilgileri:\nODTÜ 2008-2012\nSTAJ\nGAMMA 07.2011-08.2011\nAskerlik\n2013-2014\nReferanslar\nX 2001-2002"
    )
    sections = find_sections(text)
    assert [section.kind for section in sections] == [
        "summary", "experience", "education", "internship", "military", "references",
    ]  # fmt: skip
    assert section_at(sections, text.index("ODTÜ")) == "education"
    assert [stretch.start.iso() for stretch in work_intervals(text)] == ["2019", "2015"]
    assert [stretch.start.iso() for stretch in work_intervals(text, internships=True)] == [
        "2019",
        "2015",
        "2014",
        "2011-07",
    ]
    bare = "ACME 2019-2024\nODTÜ Lisans 2008-2012\nAskerlik 2013-2014"
    assert [stretch.start.iso() for stretch in work_intervals(bare)] == ["2019"]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("İŞ TECRÜBESİ", "experience"), ("Çalışma Deneyimi:", "experience"), ("PROFESSIONAL EXPERIENCE", "experience"), ("Work History", "experience"),
        ("D E N E Y İ M", "experience"), ("1. Mesleki Deneyim", "experience"), ("İŞ DENEYİMLERİM", "experience"), ("Employment History", "experience"),
        ("ÖĞRENİM DURUMU", "education"), ("Eğitim Bilgileri", "education"), ("Education and Training", "education"), ("Sertifikalar ve Eğitimler", "certificates"),
        ("Yabancı Dil", "languages"), ("TEKNİK BECERİLER", "skills"), ("Key Skills", "skills"), ("Askerlik Durumu", "military"), ("Referanslar", "references"),
        ("Gönüllü Çalışmalar", "volunteering"), ("Projelerim", "projects"), ("Stajlar", "internship"), ("Hakkımda", "summary"),
        ("İş ve Staj Deneyimleri", "experience"), ("Deneyim / Experience", "experience"), ("WORK EXPERIENCE (10 years)", "experience"),
        ("Professional Background", "experience"), ("Mesleki Geçmiş", "experience"), ("Experience & Projects", "experience"),
        ("Okul Bilgileri", "education"), ("Kurs ve Sertifikalar", "training"), ("Soft Skills", "skills"), ("Yazılım Bilgisi", "skills"),
        ("Licenses & Certifications", "certificates"), ("Key Projects", "projects"), ("Sosyal Sorumluluk Projeleri", "volunteering"),
        ("Ödüller", "awards"), ("Professional Memberships", "memberships"), ("Ek Bilgiler", "other"),
    ],
)  # fmt: skip
def test_headings_are_known_in_both_languages_and_any_case(heading: str, kind: str) -> None:
    assert [section.kind for section in find_sections(f"{heading}\nmetin")] == [kind]


@pytest.mark.parametrize("line", ["Deneyim kazandım", "Eğitim verdiğim ekip büyüdü.", "Projeyi yönettim", "Skills matrix owner at ACME"])  # fmt: skip
def test_a_sentence_is_no_heading(line: str) -> None:
    assert find_sections(line) == []


def test_a_version_is_no_employment_though_an_employer_of_that_trade_is() -> None:
    text = "DENEYİM\nSQL Server 2012-2019, AutoCAD 2016-2018\nOracle 2015 - 2019\n"
    assert starts(text) == ["2015"]


@pytest.mark.parametrize("heading", ["OKUL BİLGİLERİ", "Kurs ve Sertifikalar", "SOFT SKILLS", "Ödüller", "Memberships", "Honors & Awards"])  # fmt: skip
def test_what_follows_another_heading_is_no_work(heading: str) -> None:
    assert starts(f"DENEYİM\nACME 2019-2024\n{heading}\nODTÜ 2008-2012\n") == ["2019"]


def test_internships_and_projects_are_told_apart_from_work() -> None:
    text = "DENEYİM\nACME 2019-2024\nStajyer, BETA 2018-06 – 2018-08\nPROJELER\nDepo 2016-2017\n"
    assert starts(text) == ["2019"]
    assert [one.start.iso() for one in maybe_work_intervals(text)] == ["2018-06", "2016"]
    assert [one.start.iso() for one in work_intervals(text, internships=True)] == ["2019", "2018-06"]


@pytest.mark.parametrize(
    ("line", "loose"),
    [
        ("Uzman, ACME (2019)", ["2019"]),
        ("Uzman 30.02.2016 - 05.06.2021", ["30.02.2016", "05.06.2021"]),
        ("ACME 03.15 – 02.21", ["03.15 – 02.21"]),
        ("ACME 2015-2019", []),
        ("ACME 2015 - halen", []),
        ("• 2019 yılında ödül", []),
        ("Depoyu 2021'de taşıdı.", []),
        ("Doğum tarihi 12.03.1990", []),
        ("Tel: 0532 201 92 024", []),
    ],
)
def test_dates_at_the_head_of_an_employment_that_are_in_no_interval_are_loose(
    line: str, loose: list[str]
) -> None:
    text = f"ÖZET\nGüncelleme 05.2024\nDENEYİM\n{line}\nEĞİTİM\nODTÜ 2012\n"
    assert [text[start:end] for start, end in loose_work_dates(text)] == loose


def test_without_any_heading_every_line_may_be_work() -> None:
    text = "Ali Kaya\nUzman, ACME 2019\nODTÜ Lisans 2012\n"
    assert [text[start:end] for start, end in loose_work_dates(text)] == ["2019"]
