"""Masks: personal data is gone from what a model sees, nothing else moves, and the original can be put back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.mask import mask, tokenise, unmask

CONTACT = (
    "IBAN TR33 0006 1005 1978 6457 8413 26, tel +90 532 123 45 67, 0 (212) 555 44 33, 05321234567, "
    "ayse@example.com, kart 4111 1111 1111 1111, plaka 34 ABC 123"
)
CV = """AYŞE NUR YILMAZ
Adı Soyadı: Ayşe Nur Yılmaz | Doğum Tarihi: 12.03.1990 | Medeni Hali: Evli
Askerlik Durumu: Muaf
Adres: Atatürk Mah. Gül Sok. No:5 D:3 Kadıköy / İstanbul
Tel: 0532 123 45 67, ayse.yilmaz@example.com
İş Deneyimi
ACME A.Ş. 2019-2024 Satınalma Uzmanı, yılmaz bir ekip üyesi
Eğitim
ODTÜ Endüstri Mühendisliği 2008-2012
"""


def hidden(text: str, *names: str) -> list[tuple[str, str]]:
    return [(span.kind, text[span.start : span.end]) for span in mask(text, names).spans]


def test_all_seven_identifiers_are_masked_with_one_mask_for_one_value() -> None:
    made = tokenise(CONTACT)
    assert made.text == (
        "IBAN [IBAN_1], tel [PHONE_1], [PHONE_2], [PHONE_1], [EMAIL_1], kart [CARD_1], plaka [PLATE_1]"
    )
    assert made.restore() == CONTACT
    assert (
        made.fill("Ara: [PHONE_2], yaz: [EMAIL_1], [EMAIL_9]")
        == "Ara: 0 (212) 555 44 33, yaz: ayse@example.com, [EMAIL_9]"
    )
    assert len(mask(CONTACT).spans) == 7


@pytest.mark.parametrize(
    "text",
    [
        "Tutar 1.234.567,89 TL, tarih 15.03.2026, sipariş 4500012345",
        "Acme A.Ş. 01.02.2019 - 05.06.2021; Ciro: 150000 TL",
        "2001 1995",
        "Single page application, address validation, sokak sanatı, evli çiftler için ürün",
        "Company Name: ACME; IP address: yok; Race condition çözüldü; Engelliler için erişim",
        "Excel 2016, 16 GB 3200 MHz, ISO 9001:2015",
        "Single sign-on, two children processes, page 34, language 34, sendikalarla toplu sözleşme görüşmeleri",
    ],
)
def test_amounts_dates_and_orders_stay_byte_for_byte(text: str) -> None:
    assert mask(text).text == text
    assert tokenise(text).text == text


def test_a_cv_keeps_its_length_its_lines_and_its_work() -> None:
    made = mask(CV, ["Ayşe Nur Yılmaz"])
    assert len(made.text) == len(CV)
    assert [len(line) for line in made.text.split("\n")] == [len(line) for line in CV.split("\n")]
    for secret in (
        "Ayşe",
        "AYŞE",
        "Yılmaz",
        "12.03.1990",
        "Evli",
        "Askerlik",
        "Gül",
        "0532",
        "example.com",
        "2008",
        "2012",
    ):
        assert secret not in made.text, secret
    assert "ACME A.Ş. 2019-2024 Satınalma Uzmanı, yılmaz bir ekip üyesi" in made.text
    assert unmask(made, CV) == CV
    place = CV.index("Evli")
    assert made.touches(place, place + 4) and not made.touches(CV.index("ACME"), CV.index("ACME") + 4)


@pytest.mark.parametrize(
    "written",
    ["Ayşe Yılmaz", "AYŞE YILMAZ", "ayse yilmaz", "Ayse YILMAZ", "Yılmaz, Ayşe", "A Y Ş E  Y I L M A Z", "Ays\u0327e Yılmaz", "Mrs. Ayşe Yılmaz", "Ayşe Yılmaz Hanım"],
)  # fmt: skip
def test_a_name_is_hidden_in_every_spelling(written: str) -> None:
    text = f"Aday: {written}, uzman"
    assert "".join(raw for _, raw in hidden(text, "Ayşe Yılmaz")).replace(" ", "") == written.replace(" ", "")
    assert mask(text, ["Ayşe Yılmaz"]).text.startswith("Aday: [NAME")


def test_parts_of_a_name_are_hidden_as_names_and_not_as_words() -> None:
    text = "Ayşe'nin ekibi, A. Yılmaz; yılmaz çalışan; Yılmazlar; ayşegül"
    assert [raw for _, raw in hidden(text, "Ayşe Yılmaz")] == ["Ayşe", "Yılmaz"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Doğum Tarihi: 12.03.1990", "birth"), ("DOĞUM TARİHİ : 12 Mart 1990", "birth"), ("Doğum Yeri ve Tarihi: Ankara, 1990", "birth"),
        ("Date of Birth: 12 March 1990", "birth"), ("Born in 1990", "birth"), ("1990 doğumluyum", "birth"), ("Doğum Tarihi:\n12.03.1990", "birth"),
        ("d.t. 12.03.1990", "birth"), ("DOB 12/03/1990", "birth"), ("Age 34", "age"), ("Married, two children", "marital_status"), ("Evliyim, iki çocuğum", "marital_status"),
        ("Sendika üyesiyim", "belief_or_membership"), ("trade union member", "belief_or_membership"), ("Müslümanım", "religion"), ("Engelli değilim", "health"),
        ("34 yaşındayım", "age"), ("Age: 34", "age"), ("34 years old", "age"),
        ("Cinsiyet: Kadın", "sex"), ("Gender: Male", "sex"), ("Ankara | Satış | Erkek", "sex"),
        ("Medeni Hali: Bekar", "marital_status"), ("Marital status: single", "marital_status"), ("Evli ve iki çocuk babasıyım", "marital_status"),
        ("Askerlik: Yapıldı", "military_service"), ("Askerlik hizmetimi 2015'te tamamladım", "military_service"), ("Military service: completed", "military_service"),
        ("Uyruk: T.C.", "nationality"), ("Nationality: Turkish", "nationality"),
        ("Din: İslam", "religion"), ("Religion: none", "religion"), ("Kan Grubu: A Rh+", "health"), ("Engel durumu: yok", "health"),
        ("Sendika üyeliği: var", "belief_or_membership"), ("Adli sicil kaydı: yoktur", "criminal_record"),
        ("Adres: Gül Sok. 5/3 Çankaya Ankara", "address"), ("Barbaros Mah. Ihlamur Bulvarı No:3 Ataşehir/İstanbul", "address"), ("12 Baker Street, London", "address"),
    ],
)  # fmt: skip
def test_protected_attributes_are_hidden_with_their_kind(text: str, kind: str) -> None:
    made = mask(f"Aday\n{text}\nSatış uzmanı")
    assert kind in {span.kind for span in made.spans}
    assert made.text.startswith("Aday\n") and made.text.endswith("\nSatış uzmanı")
    value = text.split(":")[-1].strip().split()[-1]
    assert value not in made.text


def test_a_placeholder_does_not_give_away_the_attribute() -> None:
    text = mask("Askerlik: Yapıldı\nMedeni Hali: Evli\n34 yaşında").text
    assert text == "[PERSONAL*******]\nMedeni Hali: ****\n[PERSONAL]"


def test_years_of_study_are_hidden_unless_recency_matters() -> None:
    text = "Deneyim\nACME 2019-2024\nEğitim\nODTÜ 2008-2012\n"
    assert mask(text).text == "Deneyim\nACME 2019-2024\nEğitim\nODTÜ ****-****\n"
    assert mask(text, graduation_years=False).text == text
    assert "2012" not in mask("2012 mezunu, Mezuniyet yılı: 2012").text


PIECES = st.sampled_from(
    ["Ayşe Yılmaz", "0532 123 45 67", "ayse@example.com", "Doğum Tarihi: 12.03.1990", "Evli", "\n", " | ", ", ", "ACME",
     "2019-2024", "TR33 0006 1005 1978 6457 8413 26", "34 ABC 123", "Askerlik: muaf", "[PHONE_1]", "İ", "1990 doğumlu",
     "Gül Sok. No:5", "Eğitim", "10000000146", " ", "https://x.com/a"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_masking_changes_nothing_outside_its_spans_and_comes_back(text: str) -> None:
    made = mask(text, ["Ayşe Yılmaz"])
    assert len(made.text) == len(text)
    at = 0
    for span in made.spans:
        assert made.text[at : span.start] == text[at : span.start]
        assert made.text[span.start : span.end] == span.placeholder
        at = span.end
    assert made.text[at:] == text[at:]
    assert made.text.count("\n") == text.count("\n")
    assert unmask(made, text) == text
    assert tokenise(text, ["Ayşe Yılmaz"], attributes=True).restore() == text


@given(st.lists(PIECES, max_size=14).map("; ".join))
def test_nothing_personal_survives_between_other_things(text: str) -> None:
    made = mask(text, ["Ayşe Yılmaz"]).text
    for secret in ("Ayşe", "0532", "ayse@", "TR33", "10000000146", "34 ABC", "12.03.1990", "x.com"):
        assert secret not in made
