"""What a rule decides about a CV, from which places, and where it leaves the word to a person."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ats.rules import Judgement, check_rule, judge

AS_OF = date(2026, 6, 30)
ENGLISH = {"type": "language_level", "language": "en", "min": "B2"}
LICENCE = {"type": "licence", "class": "B"}
FIVE_YEARS = {"type": "experience_months", "min": 60}


def months(required: int, *lines: str, whole: bool = True) -> Judgement:
    return judge({"type": "experience_months", "min": required}, "\n".join(lines), AS_OF, whole=whole)


def passages(word: Judgement, text: str) -> list[str]:
    return [text[span.start : span.end] for span in word.spans]


@pytest.mark.parametrize(
    ("lines", "exact"),
    [
        (("ACME 2018-01 to 2020-12", "BETA 2020-01 to 2021-12"), 48),
        (("ACME 2012-06 – 2013-05", "BETA 2014-06 – 2016-05"), 36),
        (("ACME 2017-03 – 2019-02", "BETA 2018-09 – 2020-08"), 42),
        (("ACME Ocak 2020 - Mart 2020", "BETA Ocak 2020 - Mart 2020"), 3),
        (("ACME Ocak 2018 – Aralık 2022", "BETA Mart 2019 – Nisan 2019"), 60),
        (("ACME\tUzman\t01.2018\t12.2020", "BETA\tUzman\t01.2021\thalen"), 102),
        (("03/18 - 02/21",), 36),
        (("ACME Temmuz 2025 - halen",), 12),
        (("Temmuz 2025'ten beri ACME",), 12),
        (("since July 2025, ACME",), 12),
        (("Jul '25 - Present",), 12),
        (("Haziran 2018", "–", "Ağustos 2020"), 27),
    ],
)
def test_months_are_counted_once_and_gaps_not_at_all(lines: tuple[str, ...], exact: int) -> None:
    assert months(exact, *lines).verdict == "met"
    assert months(exact + 1, *lines).verdict == "not_met"


def test_every_counted_stay_is_cited_the_longest_first() -> None:
    text = "ACME 2020-01 – 2020-03\nBETA 2012-01 – 2018-12\nGAMA Ocak 2021 – halen"
    assert passages(judge(FIVE_YEARS, text, AS_OF), text) == [
        "2012-01 – 2018-12",
        "Ocak 2021 – halen",
        "2020-01 – 2020-03",
    ]


def test_an_open_end_counts_to_the_day_of_the_evaluation_and_not_beyond() -> None:
    text = "ACME Ocak 2024 – halen"
    rule = {"type": "experience_months", "min": 24}
    assert judge(rule, text, date(2025, 11, 30)).verdict == "not_met"
    assert judge(rule, text, date(2025, 12, 1)).verdict == "met"


@pytest.mark.parametrize(
    "lines",
    [
        ("ACME 2019 – 2024",),  # 50 to 72 months
        ("ACME 2020 – 2023", "BETA 2015-01 – 2016-12"),
        ("2021'den beri ACME",),  # 55 to 66
    ],
)
def test_years_without_months_around_the_threshold_are_for_a_person(lines: tuple[str, ...]) -> None:
    word = months(60, *lines)
    assert (word.verdict, word.contradiction) == (None, False) and word.spans


@pytest.mark.parametrize(
    "line",
    [
        "BETA 03/2021 - 01/2020",
        "BETA Ocak 2031 – Aralık 2032",
        "BETA 2020-01 – 2030-12",
    ],
)
def test_dates_that_cannot_be_are_a_contradiction_even_when_the_rest_would_do(line: str) -> None:
    word = months(12, "ACME 2010-01 – 2019-12", line)
    assert (word.verdict, word.contradiction) == (None, True)
    assert passages(word, f"ACME 2010-01 – 2019-12\n{line}")[0] in line


@pytest.mark.parametrize(
    "line",
    [
        "Uzman, BETA 30.02.2016 - 05.06.2021",
        "Uzman, BETA 13/2015 - 06/2021",
        "Uzman, BETA (2017)",
        "Uzman, BETA 03.15 – 02.21",
        "BETA 06/2015, 08/2020",
    ],
)
def test_dates_that_no_rule_can_read_leave_too_few_months_to_a_person(line: str) -> None:
    lines = ("DENEYİM", "Uzman, ACME 2022-01 – 2022-12", line)
    assert months(60, *lines).verdict is None
    assert months(12, *lines).verdict == "met"


@pytest.mark.parametrize(
    "line",
    ["• 2019 yılında SAP geçişini yönetti", "Depoyu 2021 sonunda taşıdı.", "EĞİTİM\nODTÜ, 2012", "SERTİFİKALAR\nPMP (2020)"],
)  # fmt: skip
def test_a_year_in_a_sentence_or_another_section_is_no_employment(line: str) -> None:
    assert months(60, "DENEYİM", "Uzman, ACME 2022-01 – 2022-12", line).verdict == "not_met"


@pytest.mark.parametrize(
    "lines",
    [
        ("EĞİTİM", "ODTÜ Endüstri Mühendisliği 2008-01 – 2018-12"),
        ("BECERİLER", "SQL Server 2008-2019, Office 2010 - 2019"),
        ("Askerlik 2008-01 – 2018-12",),
        ("SERTİFİKALAR", "ISO 9001 iç denetçi 2008-2018"),
        ("GÖNÜLLÜLÜK", "Arama kurtarma 2008-01 – 2018-12"),
    ],
)
def test_study_service_and_versions_are_no_work(lines: tuple[str, ...]) -> None:
    text = ("DENEYİM", "ACME 2025-01 – 2025-12", *lines)
    assert months(24, *text).verdict == "not_met"
    assert months(12, *text).verdict == "met"


@pytest.mark.parametrize("heading", ["STAJ", "PROJELER", "Internships", "Projects"])
def test_whether_internships_and_projects_count_is_for_a_person(heading: str) -> None:
    lines = ("DENEYİM", "ACME 2025-01 – 2025-12", heading, "BETA 2018-01 – 2022-12")
    assert months(60, *lines).verdict is None
    assert months(12, *lines).verdict == "met"
    assert months(100, *lines).verdict == "not_met"


@pytest.mark.parametrize(
    "claim",
    ["15 yıllık deneyim", "15+ years of experience", "on beş yıl deneyimli", "fifteen years of professional experience", "Toplam deneyim: 15 yıl"],
)  # fmt: skip
def test_more_years_claimed_than_dated_is_a_contradiction(claim: str) -> None:
    dated = "ACME 2020-01 – 2024-12"
    word = months(24, f"{claim} ile satınalma.", dated)
    assert (word.verdict, word.contradiction) == (None, True)
    assert months(24, f"2 yıl SAP deneyimi, {claim}", dated).contradiction
    alone = months(24, claim)
    assert (alone.verdict, alone.contradiction) == (None, False)


@pytest.mark.parametrize("claim", ["5 yıllık deneyim", "4 yıl satınalma deneyimi", "Toplam deneyim: 6 yıl", "15 yıl garanti"])  # fmt: skip
def test_a_claim_that_the_dates_bear_out_changes_nothing(claim: str) -> None:
    assert months(24, claim, "ACME 2020-01 – 2024-12").verdict == "met"


def test_without_dates_nothing_is_stated() -> None:
    assert months(12, "Satınalma uzmanı", "Tel: 0532 201 92 024").verdict == "not_stated"


def test_missing_months_prove_nothing_where_a_part_of_the_file_is_unread() -> None:
    assert months(60, "ACME 2025-01 – 2025-12").verdict == "not_met"
    assert months(60, "ACME 2025-01 – 2025-12", whole=False).verdict is None
    assert months(12, "ACME 2025-01 – 2025-12", whole=False).verdict == "met"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("İngilizce: B2", "met"), ("English – C1 (exam score 7.5/9)", "met"), ("İNGİLİZCE: C2", "met"), ("native English speaker", "met"),
        ("İngilizce: B1", "not_met"), ("English A2", "not_met"), ("Almanca: C1", "not_stated"), ("İngilizce öğretmenliği", "not_stated"),
        ("İngilizce: temel", "not_met"), ("basic English", "not_met"), ("English: proficient", "met"), ("ana dil seviyesinde İngilizce", "met"),
    ],
)  # fmt: skip
def test_a_stated_level_is_compared(text: str, verdict: str) -> None:
    assert judge(ENGLISH, f"Diller\n{text}\nSon", AS_OF).verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "İngilizce: iyi", "İngilizce: çok iyi", "İngilizce: orta", "İngilizce: ileri düzey", "akıcı İngilizce", "Fluent English",
        "English: advanced", "English: intermediate", "English – professional working proficiency", "English: limited working proficiency",
        "good command of written and spoken English", "İngilizce: üst orta",
    ],
)  # fmt: skip
def test_a_word_near_the_required_level_is_for_a_person(text: str) -> None:
    word = judge(ENGLISH, f"Diller\n{text}\nSon", AS_OF)
    assert (word.verdict, word.contradiction) == (None, False) and word.spans


@pytest.mark.parametrize(
    ("text", "required", "verdict"),
    [
        ("İngilizce: iyi", "A2", "met"), ("Fluent English", "B1", "met"), ("Fluent English", "C2", None), ("English: intermediate", "C1", "not_met"),
        ("İngilizce: başlangıç", "B1", "not_met"), ("İngilizce: başlangıç", "A1", None), ("İngilizce: temel", "B1", None),
    ],
)  # fmt: skip
def test_a_word_far_from_the_required_level_decides(text: str, required: str, verdict: str | None) -> None:
    assert judge({**ENGLISH, "min": required}, text, AS_OF).verdict == verdict


def test_a_letter_beside_its_word_is_what_counts() -> None:
    assert judge(ENGLISH, "İngilizce: ileri (C1)", AS_OF).verdict == "met"
    assert judge(ENGLISH, "English: intermediate (B1)", AS_OF).verdict == "not_met"


@pytest.mark.parametrize(
    "text",
    ["İngilizce: C1\nÖzet: İngilizce düzeyim A2", "İngilizce | Okuma: C1 | Konuşma: B1", "İngilizce: temel\nEnglish: C1", "English: basic; İngilizce: proficient"],
)  # fmt: skip
def test_two_levels_on_both_sides_of_the_threshold_are_a_contradiction(text: str) -> None:
    word = judge(ENGLISH, text, AS_OF)
    assert (word.verdict, word.contradiction) == (None, True) and len(word.spans) == 2


@pytest.mark.parametrize("text", ["İngilizce (YDS 85)", "IELTS 7.5", "TOEFL iBT: 102"])
def test_an_examination_without_a_level_is_for_a_person(text: str) -> None:
    word = judge(ENGLISH, f"Diller\n{text}", AS_OF)
    assert word.verdict is None and word.spans


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Sürücü belgesi: B", "met"), ("B sınıfı ehliyet", "met"), ("Driving licence: B, C1E", "met"), ("Ehliyet: A2", "not_met"),
        ("Ehliyetim yok", "not_met"), ("B sınıfı ehliyetim yok", "not_met"), ("Driving licence: none", "not_met"), ("Blok B, Daire C", "not_stated"),
        ("Sürücü Belgesi\nB", "met"), ("Ehliyet: var", None), ("Full UK driving licence", None), ("Sürücü belgesi: C", None), ("Ehliyet: CE", None),
    ],
)  # fmt: skip
def test_a_stated_licence_is_compared_and_one_without_its_class_is_for_a_person(
    text: str, verdict: str | None
) -> None:
    word = judge(LICENCE, f"Bilgiler\n{text}\nSon", AS_OF)
    assert word.verdict == verdict and bool(word.spans) is (verdict != "not_stated")


def test_a_licence_stated_and_denied_is_a_contradiction() -> None:
    word = judge(LICENCE, "B sınıfı ehliyet\nSürücü belgesi: yok", AS_OF)
    assert (word.verdict, word.contradiction, len(word.spans)) == (None, True, 2)


def test_terms_are_found_with_their_signs_and_never_inside_a_word() -> None:
    text = "C++, Node.js; Çetin R. Kaya, JavaScript"
    assert judge({"type": "term", "any": ["Node.js", "C++"]}, text, AS_OF).verdict == "met"
    assert judge({"type": "term", "any": ["R", "Java", "Node"]}, text, AS_OF).verdict == "not_stated"


@pytest.mark.parametrize(
    "text",
    [
        "PostgreSQL bilmiyorum", "PostgreSQL deneyimim yok", "No experience with PostgreSQL", "I have never used PostgreSQL",
        "PostgreSQL ile hiç çalışmadım", "without PostgreSQL knowledge",
    ],
)  # fmt: skip
def test_a_denied_term_is_for_a_person(text: str) -> None:
    rule = {"type": "term", "any": ["PostgreSQL"]}
    word = judge(rule, text, AS_OF)
    assert word.verdict is None and passages(word, text) == ["PostgreSQL"]
    both = judge(rule, f"PostgreSQL kümeleri kurdum\n{text}", AS_OF)
    assert (both.verdict, len(both.spans)) == ("met", 1)


@pytest.mark.parametrize(
    "text",
    ["PostgreSQL, no problem", "There is no downtime; PostgreSQL tuning", "Oracle yok, PostgreSQL var"],
)
def test_a_denial_of_something_else_changes_nothing(text: str) -> None:
    assert judge({"type": "term", "any": ["PostgreSQL"]}, text, AS_OF).verdict == "met"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"type": "term", "any": ["SAP"]}, "SAP\ufffd kullandı"),
        ({"type": "term", "any": ["verim"]}, "verim(cid:141)"),
        (ENGLISH, "\ufffdngilizce English: C1\ufffd"),
        (FIVE_YEARS, "ACME 2010-01 – 2019-12\ufffd"),
    ],
)
def test_no_verdict_rests_on_a_damaged_word(rule: dict[str, object], text: str) -> None:
    damaged = judge(rule, text, AS_OF)
    assert damaged.verdict is None and damaged.spans
    assert judge(rule, text.replace("\ufffd", "").replace("(cid:141)", ""), AS_OF).verdict == "met"


def test_a_sound_place_is_taken_before_a_damaged_one() -> None:
    text = "SAP\ufffd kullandı\nSAP MM"
    word = judge({"type": "term", "any": ["SAP"]}, text, AS_OF)
    assert (word.verdict, [span.start for span in word.spans]) == ("met", [text.index("SAP MM")])


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "age"}, {}, "experience", None, {"type": "experience_months"}, {"type": "experience_months", "min": 0},
        {"type": "experience_months", "min": "five"}, {"type": "language_level", "language": "en", "min": "B7"},
        {"type": "language_level", "language": "klingon", "min": "B2"}, {"type": "licence", "class": "Z"}, {"type": "licence"},
        {"type": "term", "any": []}, {"type": "term", "any": " "}, {"type": "term", "any": "PostgreSQL"}, {"type": "term"},
    ],
)  # fmt: skip
def test_a_rule_that_could_never_decide_is_refused_with_its_reason(rule: object) -> None:
    assert check_rule(rule)


@pytest.mark.parametrize("rule", [FIVE_YEARS, ENGLISH, LICENCE, {"type": "term", "any": ["C#"]}])
def test_a_good_rule_is_taken(rule: dict[str, object]) -> None:
    assert check_rule(rule) == ""


def test_a_name_or_a_sex_changes_no_verdict() -> None:
    cv = "{name}\nCinsiyet: {sex}\nDoğum Tarihi: {birth}\nDENEYİM\nACME 2019-01 – 2024-12\nİngilizce: B2\nEhliyet: B"
    people = [
        cv.format(name=name, sex=sex, birth=birth)
        for name, sex, birth in [("Ayşe Kaya", "Kadın", "01.02.1975"), ("Ali Vural", "Erkek", "11.12.1999")]
    ]
    for rule in (FIVE_YEARS, ENGLISH, LICENCE):
        assert (
            len({(judge(rule, text, AS_OF).verdict, judge(rule, text, AS_OF).reason) for text in people}) == 1
        )


LINES = st.sampled_from(
    ["ACME 2019-01 – 2024-12", "BETA 2015 - halen", "İngilizce: iyi", "English: C1", "Ehliyet: B", "Ehliyet: yok", "DENEYİM", "EĞİTİM",
     "ODTÜ 2008-2012", "SAP bilmiyorum", "SAP MM", "15 yıl deneyim", "30.02.2016 - 2018", "", "STAJ", "\ufffd", "2016"]
)  # fmt: skip


@given(st.lists(LINES, max_size=10).map("\n".join), st.booleans())
def test_a_verdict_has_places_that_lie_in_the_text_and_silence_has_none(text: str, whole: bool) -> None:
    for rule in (FIVE_YEARS, ENGLISH, LICENCE, {"type": "term", "any": ["SAP"]}):
        word = judge(rule, text, AS_OF, whole=whole)
        assert all(0 <= span.start < span.end <= len(text) for span in word.spans)
        assert bool(word.spans) is (word.verdict != "not_stated") and word.reason
