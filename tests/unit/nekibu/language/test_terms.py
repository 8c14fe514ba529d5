"""Terms: a skill is found as it is written, and never inside another word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.terms import contains_term, find_terms
from nekibu.language.turkish import fold


def found(text: str, *terms: str) -> list[tuple[str, str]]:
    return [(match.term, text[match.start : match.end]) for match in find_terms(text, terms)]


def test_skills_with_signs_or_several_words_are_all_found() -> None:
    skills = ["Machine Learning", "C++", "Node.js", "C#", "İş Analizi"]
    text = "Yetkinlikler: Machine Learning, C++, Node.js ve C#; ayrıca İş Analizi."
    assert found(text, *skills) == [(skill, skill) for skill in skills]


@pytest.mark.parametrize(
    "term", ["F#", ".NET", "T-SQL", "PL/SQL", "ASP.NET Core", "S/4HANA", "CI/CD", "Vue.js", "Objective-C"]
)
def test_any_signs_belong_to_the_term(term: str) -> None:
    for text in (f"Bilgi: {term}, Word", f"({term})", term, f"{term}.", f"Excel/{term}'ı bilir"):
        assert (term, term) in found(text, term), text


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (("R", "C"), "Çetin R. Kaya, HR and CRM"),
        (("Java", "Go"), "JavaScript, Google Ads"),
        (("R", "C"), "J. R. Smith\nR. Kaya\nAyşe C Yılmaz\nAR-GE, R&D ve C-level"),
        (("C",), "C++ ve C# bilir"),
        (("C", "B"), "Sürücü belgesi: B, C\nC sınıfı ehliyet, Blok C Daire B, C vitamini"),
        (("Node", "js"), "Node.js ile"),
        (("NET",), ".NET ve ASP.NET"),
        (("SQL",), "MySQL, NoSQL, SQLite"),
        (("Go", "IT"), "ready to go, it is"),
        (("SAP",), "SAP2000, SAPMAZ"),
        (("muhasebe", "lider"), "muhasebeci, liderlik"),
        (("Excel", "kurul"), "excellent kuruluş"),
        (("Python",), "ayse@python.org"),
        (("ISO 9001",), "ISO 90011, ISO-IEC 9001x"),
    ],
)
def test_letters_inside_other_words_are_not_skills(terms: tuple[str, ...], text: str) -> None:
    assert found(text, *terms) == []


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("Diller: Python, R, C, Go.", ("R", "C", "Go"), ["R", "C", "Go"]),
        ("Python ve R. Sonra", ("R",), ["R"]),
        ("C/C++ ve R ile", ("C", "C++", "R"), ["C", "C++", "R"]),
        ("GO, IT", ("Go", "IT"), ["GO", "IT"]),
        ("Python'da, Docker’ı, SQL'i", ("Python", "Docker", "SQL"), ["Python", "Docker", "SQL"]),
        (
            "machine-learning, Machine\nLearning",
            ("Machine Learning",),
            ["machine-learning", "Machine\nLearning"],
        ),
        ("NodeJS, Node JS, nodejs", ("Node.js",), ["NodeJS", "Node JS", "nodejs"]),
        ("ISO9001 ve ISO 9001:2015", ("ISO 9001",), ["ISO9001", "ISO 9001"]),
        ("HTML5, Python3.11, APIs", ("HTML", "Python", "API"), ["HTML", "Python", "APIs"]),
    ],
)
def test_lists_line_ends_and_suffixes_do_not_hide_a_skill(
    text: str, terms: tuple[str, ...], expected: list[str]
) -> None:
    assert [written for _, written in found(text, *terms)] == expected


@pytest.mark.parametrize(
    ("term", "written"),
    [
        ("muhasebe", "muhasebede"), ("satınalma", "SATINALMADA"), ("İş Analizi", "iş analizleri"),
        ("sözlük", "sözlüğü"), ("proje yönetimi", "proje yönetiminde"), ("bütçe", "bütçelerinin"), ("kitap", "kitabı"),
    ],
)  # fmt: skip
def test_inflections_are_the_same_word(term: str, written: str) -> None:
    assert found(f"Konu: {written}.", term) == [(term, written)]
    if " " not in term:
        assert not find_terms(f"Konu: {written}.", [term], inflected=False)


def test_typing_without_turkish_letters_is_marked_as_not_exact() -> None:
    (typed,) = find_terms("is analizi yaptim", ["İş Analizi"])
    (written,) = find_terms("İŞ ANALİZİ YAPTIM", ["İş Analizi"])
    assert (typed.exact, written.exact) == (False, True)


def test_no_term_finds_nothing() -> None:
    assert find_terms("metin", ["", "  ", "++"]) == []
    assert not contains_term("metin", [])


@given(st.text(alphabet="CR+#. Javaİış\n'", max_size=40))
def test_every_match_is_the_term_at_its_place(text: str) -> None:
    for match in find_terms(text, ["C", "C++", "C#", "Java", "İş"], inflected=False):
        assert fold(text[match.start : match.end]) == fold(match.term)
