"""Each family of protected fields, in Turkish and in English, with what it must not be taken for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.protected import OCR, clauses, extract, locales, numbers, scan
from tests.cases import case
from tests.unit.inference.specs import pieces


def kinds(text, **how):
    return {(f.kind, f.raw, f.canonical) for f in scan(text, **how)}


@pytest.mark.parametrize(
    ("text", "kind", "raw", "canonical"),
    [
        ("Bedel 1.234,56 TL", "money", "1.234,56 TL", "1234.56 TRY"),
        ("Bedel 1 250 000,50 TL", "money", "1 250 000,50 TL", "1250000.5 TRY"),
        ("Bedel 1\u202f250,50 TL", "money", "1\u202f250,50 TL", "1250.5 TRY"),
        ("Bedel 1\u00a0250,50 TL", "money", "1\u00a0250,50 TL", "1250.5 TRY"),
        ("1'234'567.89 CHF", "money", "1'234'567.89 CHF", "1234567.89 CHF"),
        ("EUR 1,234.56 net", "money", "EUR 1,234.56", "1234.56 EUR"),
        ("ödemeler EUR cinsinden", "currency", "EUR", "EUR"),
        ("para birimi Türk Lirasıdır", "currency", "Türk Lirasıdır", "TRY"),
        ("payable in pounds sterling", "currency", "pounds sterling", "GBP"),
        ("31 ARALIK 2026 günü", "date", "31 ARALIK 2026", "2026-12-31"),
        ("31 Aralık 2026 günü", "date", "31 Aralık 2026", "2026-12-31"),
        ("Mart 2026 sonunda", "date", "Mart 2026", "2026-03"),
        ("by 15 March 2026", "date", "15 March 2026", "2026-03-15"),
        ("otuz gün içinde", "duration", "otuz gün", "P30D"),
        ("30 iş günü içinde", "duration", "30 iş günü", "P30D working"),
        ("12 ay ve 45 gün içinde", "duration", "12 ay ve 45 gün", "P12M45D"),
        ("within 6 months", "duration", "6 months", "P6M"),
        ("faiz %2,75 olur", "rate", "%2,75", "2.75 %"),
        ("yüzde 20 indirim", "rate", "yüzde 20", "20 %"),
        ("binde 2 kesinti", "rate", "binde 2", "0.2 %"),
        ("interest of 2.75%", "rate", "2.75%", "2.75 %"),
        ("25 m² boru", "quantity", "25 m²", "25 m2"),
        ("½ inç vana", "quantity", "½ inç", "0.5 in"),
        ("2½ kg", "quantity", "2½ kg", "2.5 kg"),
        ("⅓ hisse", "quantity", "⅓", "1/3"),
        ("Türkiye'de 1.250 adet ve üç koli", "quantity", "1.250 adet", "1250 pcs"),
        ("en az 3 yıl", "threshold", "en az 3 yıl", ">= P3Y"),
        ("azami %10", "threshold", "azami %10", "<= 10 %"),
        ("en geç 15.03.2026", "threshold", "en geç 15.03.2026", "<= 2026-03-15"),
        ("5 yıldan fazla deneyim", "threshold", "5 yıldan fazla", "> P5Y"),
        ("3 yıl ve üzeri", "threshold", "3 yıl ve üzeri", ">= P3Y"),
        ("ceza %0,5'i geçemez", "threshold", "%0,5'i geçemez", "<= 0.5 %"),
        ("100.000 TL'yi aşan işler", "threshold", "100.000 TL'yi aşan", "> 100000 TRY"),
        ("not exceeding USD 1,000,000.00", "threshold", "not exceeding USD 1,000,000.00", "<= 1000000 USD"),
        ("10 years or more", "threshold", "10 years or more", ">= P10Y"),
        ("kimlik no 10000000146", "identifier", "10000000146", "10000000146"),
        ("VKN 2000000010", "identifier", "2000000010", "2000000010"),
        ("plaka 34 ABC 123", "identifier", "34 ABC 123", "34ABC123"),
        ("bkz. https://x.example/a?b=1.", "source_uri", "https://x.example/a?b=1", "https://x.example/a?b=1"),
        ("Doğum tarihi: 01.02.1990", "person_fact", "Doğum tarihi: 01.02.1990", "birth: dogum tarihi: 01.02.1990"),
    ],
)  # fmt: skip
def test_a_value_is_found_with_its_exact_characters(text, kind, raw, canonical):
    assert (kind, raw, canonical) in kinds(text)


@pytest.mark.parametrize(
    "clause",
    [
        "Tedarikçi malı 15.03.2026 tarihinde teslim etmek zorundadır.",
        "YÜKLENİCİ İŞİ BİTİRMEKLE YÜKÜMLÜDÜR.",
        "Bedel otuz gün içinde ödenmelidir.",
        "Fatura ay sonunda ödenecektir.",
        "Sözleşme devredilemez.",
        "The supplier shall deliver within 30 days.",
        "The data must not leave the building.",
    ],
)
def test_an_obligation_protects_its_whole_clause(clause):
    found = scan(f"Giriş cümlesi budur. {clause} Son cümle budur.")
    assert [f.raw for f in found if f.kind == "obligation"] == [clause]


@pytest.mark.parametrize(
    "clause",
    [
        "KDV hariçtir.",
        "Mücbir sebep dışında süre uzatılmaz.",
        "Yazılı onay olmadıkça değişiklik yapılmaz.",
        "Taraflar ancak yazılı onayla değişiklik yapabilir.",
        "Delivery is free unless agreed otherwise.",
        "All costs are included except customs.",
    ],
)
def test_an_exception_protects_its_whole_clause(clause):
    found = scan(f"Giriş cümlesi budur. {clause} Son cümle budur.")
    assert [f.raw for f in found if f.kind == "exception"] == [clause]


@pytest.mark.parametrize(
    "text", ["SQL uygulamalı eğitim aldı", "müşteri ihtimali", "normali budur", "temeli sağlam"]
)
def test_a_word_that_only_looks_like_a_duty_is_none(text):
    assert not [f for f in scan(text) if f.kind in {"obligation", "exception"}]


def test_the_values_of_an_obligation_are_fields_of_their_own():
    found = scan("Tedarikçi en geç 15.03.2026 günü 1.250,00 TL ödemek zorundadır.")
    assert [f.kind for f in found] == ["obligation", "threshold", "money"]
    assert numbers(found) == {"2026", "3", "15", "1250"}


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("İş bitti. Ödeme yapıldı.", ["İş bitti. ", "Ödeme yapıldı."]),
        ("Teslim edilir; ödeme sonradır.", ["Teslim edilir; ", "ödeme sonradır."]),
        ("Vergi No. 12 Dr. Şahin", ["Vergi No. 12 Dr. Şahin"]),
        ("15. Mart 2026 günü", ["15. Mart 2026 günü"]),
        ("1.250,00 TL. Sonra", ["1.250,00 TL. ", "Sonra"]),
        ("A. Ş. yazılır", ["A. Ş. yazılır"]),
        ("Ana • bir • iki", ["Ana ", "• bir ", "• iki"]),
    ],
)
def test_a_text_is_cut_between_clauses_and_never_inside_a_value(text, cut):
    assert [text[start:end] for start, end in clauses(text)] == cut


@case("TRK-21")
def test_an_amount_in_figures_and_in_words_are_two_fields(row):
    assert {("money", "12.500,00 TL", "12500 TRY"), ("money", "on iki bin elli TL", "12050 TRY")} <= kinds(
        "12.500,00 TL (on iki bin elli TL)"
    )


@case("TRK-22")
def test_one_amount_has_one_value_under_every_name_of_its_currency(row):
    text = "Tutarlar: 1.250 TL, ₺1.250, 1.250 TRY, 1.250 Türk Lirası"
    assert [f.canonical for f in scan(text) if f.kind == "money"] == ["1250 TRY"] * 4


@case("TRK-23")
def test_one_rate_has_one_value_in_every_spelling(row):
    found = [scan(text)[0] for text in ("%20", "% 20", "yüzde 20", "20%", "binde 2")]
    assert [f.canonical for f in found] == ["20 %"] * 4 + ["0.2 %"]


@case("TRK-24")
def test_a_date_is_read_the_way_its_document_writes_dates(row):
    dates = [scan(text, writing="tr")[0] for text in ("31 ARALIK 2026", "15 Mart 2026", "01.02.2026", "2/1/2026")]  # fmt: skip
    assert [f.canonical for f in dates] == ["2026-12-31", "2026-03-15", "2026-02-01", "2026-01-02"]
    assert scan("2/1/2026", writing="open")[0].alternatives == ("2026-01-02", "2026-02-01")
    assert not scan("2.1.2026", writing="open")[0].ambiguous


@case("TRK-25")
def test_a_day_that_no_calendar_has_is_kept_in_doubt(row):
    (found,) = scan("29.02.2026")
    assert (found.kind, found.raw, found.ambiguous) == ("date", "29.02.2026", True)
    assert not [f for f in scan("1 Ocak'ta başlar") if f.kind == "date"]  # no year is invented


@case("TRK-26")
def test_a_period_is_no_date(row):
    assert kinds("otuz gün içinde") == {("duration", "otuz gün", "P30D")}
    assert kinds("12 ay ve 45 gün içinde") == {("duration", "12 ay ve 45 gün", "P12M45D")}


@case("TRK-27", "TRK-28")
def test_an_identifier_that_fails_its_check_after_its_cue_word_is_in_doubt(row):
    found = {f.raw: f for f in scan("T.C. kimlik no 10000000147, VKN 2000000011, VKN 2000000010")}
    assert [found[raw].ambiguous for raw in ("10000000147", "2000000011", "2000000010")] == [
        True,
        True,
        False,
    ]
    assert {f.kind for f in scan("sicil no 1234567890")} == {"quantity"}


@case("TRK-30")
def test_amount_date_and_order_number_are_byte_for_byte(row):
    text = "Tutar 1.234.567,89 TL, tarih 15.03.2026, sipariş 4500012345"
    assert [f.raw for f in scan(text)] == ["1.234.567,89 TL", "15.03.2026", "4500012345"]


@case("TRK-31", "TRK-32")
def test_what_was_read_from_an_image_is_unconfirmed(row):
    for text, kind in (("KDV 9620", "quantity"), ("faizi %2,75", "rate"), ("ali@ornek.com.tr", "identifier")):
        (found,) = scan(text, ocr=True)
        assert (found.kind, found.grade) == (kind, "exact" if kind == "quantity" else "ocr_unconfirmed")
    (piece,) = pieces("Bedel 5 TL")
    assert extract([replace(piece, findings=(OCR,))])[0].grade == "ocr_unconfirmed"
    assert extract([piece])[0].grade == "exact"


@case("TRK-36")
def test_a_place_counts_characters(row):
    (found,) = scan("ücret: 1.250,00 TL")
    assert (found.start, found.raw[:8]) == (7, "1.250,00")


def test_the_document_decides_how_its_figures_are_read():
    turkish = pieces("Toplam tutar 1.234,56 TL", "Adet 2.750")
    english = pieces("Total 1,234.56 USD", "Count 2.750")
    mixed = pieces("Toplam 1.234,56", "Total 1,234.56", "2.750")
    assert set(locales(turkish).values()) == {"tr"}
    assert [f.canonical for f in extract(turkish)][-1] == "2750"
    assert [f.canonical for f in extract(english)][-1] == "2.75"
    assert extract(mixed)[-1].alternatives == ("2750", "2.75")
    # and it stays decided when the piece that told it is gone
    assert extract(turkish[1:], locales(turkish))[0].canonical == "2750"
