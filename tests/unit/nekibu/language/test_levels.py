"""Language levels: a level belongs to the language beside it, and a language without a level has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.levels import RANKS, find_exams, find_language_levels


def read(text: str) -> list[tuple[str, str]]:
    return [(found.language, found.level) for found in find_language_levels(text)]


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("İngilizce: B2", [("en", "B2")]),
        ("İngilizce – B2 (sınav puanı 78/100)", [("en", "B2")]),
        ("İngilizce düzeyim C1, iş yazışmalarımı İngilizce yürütürüm.", [("en", "C1")]),
        ("My English is at level C1 and I use it daily", [("en", "C1")]),
        ("GERMAN B2", [("de", "B2")]),
        ("İNGİLİZCE: ÇOK İYİ", [("en", "C1")]),
        ("ingilizce b1", [("en", "B1")]),
        ("Türkçe: ana dil", [("tr", "native")]),
        ("Ana dil: Türkçe", [("tr", "native")]),
        ("native Turkish speaker", [("tr", "native")]),
        ("Turkish: Native, English: C1", [("tr", "native"), ("en", "C1")]),
        ("Almanca: A2, İngilizce: B1", [("de", "A2"), ("en", "B1")]),
        ("Languages: English (C1), German (B1)", [("en", "C1"), ("de", "B1")]),
        ("İngilizce (İyi), Fransızca (Başlangıç)", [("en", "B2"), ("fr", "A1")]),
        ("fluent in English and basic German", [("en", "C1"), ("de", "A2")]),
        ("ileri düzeyde İngilizce, orta seviye Rusça", [("en", "C1"), ("ru", "B1")]),
        ("İngilizce: Orta üstü", [("en", "B2")]),
        ("English (pre-intermediate)", [("en", "A2")]),
        ("İngilizce | Okuma: C1 | Yazma: B2", [("en", "C1"), ("en", "B2")]),
        ("İngilizce Okuma C1, Yazma B2", [("en", "C1"), ("en", "B2")]),
        ("İngilizce\tB2", [("en", "B2")]),
        ("İngilizce\nB2\nAlmanca\nA2", [("en", "B2"), ("de", "A2")]),
        ("ileri düzey Excel, İngilizce: B2", [("en", "B2")]),
        ("İngilizce, Almanca B1", [("de", "B1")]),
        ("English: Limited working proficiency", [("en", "B1")]),
        ("English (Elementary proficiency)", [("en", "A2")]),
        ("English – Full professional proficiency", [("en", "C1")]),
        ("English (Native or Bilingual Proficiency)", [("en", "native")]),
        ("Anadil seviyesinde İngilizce", [("en", "C2")]),
        ("İngilizce: üst-orta", [("en", "B2")]),
        ("İngilizce: orta / ileri", [("en", "B2")]),
        ("İngilizce ........ C1", [("en", "C1")]),
        ("C1 - English", [("en", "C1")]),
        ("good command of written and spoken English", [("en", "B2")]),
        ("Foreign languages: English, advanced; German, basic", [("en", "C1"), ("de", "A2")]),
        ("Almanca B1 İngilizce C1", [("de", "B1"), ("en", "C1")]),
        ("Almanca B1 - İngilizce C1", [("de", "B1"), ("en", "C1")]),
        ("İngilizce: Okuma – İyi, Konuşma – Orta", [("en", "B2"), ("en", "B1")]),
    ],
)
def test_levels_are_read_with_their_language(text: str, levels: list[tuple[str, str]]) -> None:
    assert read(text) == levels
    for found in find_language_levels(text):
        assert found.level in RANKS


@pytest.mark.parametrize(
    "text",
    [
        "İngilizce", "İngilizce, iyi iletişim becerisi", "English teacher. Good team player", "İngilizce öğretmenliği mezunu, iyi derecede Excel",
        "İngilizce\n\nİyi bir ekip üyesi", "B2 vitamini", "ileri düzey Excel", "Turkish Airlines 2019, advanced Excel",
    ],
)  # fmt: skip
def test_a_language_without_a_level_has_none(text: str) -> None:
    assert read(text) == []


def test_a_word_is_marked_as_less_certain_than_a_level() -> None:
    assert [
        found.approximate for found in find_language_levels("English: C1; German: good; Turkish: native")
    ] == [
        False,
        True,
        False,
    ]


def test_the_place_holds_language_and_level() -> None:
    text = "Diller\nİngilizce – B2 (sınav)\n"
    (found,) = find_language_levels(text)
    assert text[found.start : found.end] == "İngilizce – B2"


def test_an_examination_names_its_language_and_no_level() -> None:
    text = "IELTS 7.5, YDS: 85 ve TestDaF; FCEV motorları"
    assert [(exam.language, text[exam.start : exam.end]) for exam in find_exams(text)] == [
        ("en", "IELTS"), ("en", "YDS"), ("de", "TestDaF"),
    ]  # fmt: skip
    assert read("IELTS 7.5") == []


@given(
    st.lists(
        st.sampled_from(["İngilizce", "B2", "iyi", ":", " ", "\n", ",", "German", "native", "(", "C1", "x"]),
        max_size=12,
    ).map("".join)
)
def test_every_place_lies_in_the_text(text: str) -> None:
    for found in find_language_levels(text):
        assert 0 <= found.start < found.end <= len(text)
