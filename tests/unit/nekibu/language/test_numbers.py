"""Numbers, amounts, rates and periods: every reading that the text allows, and no other."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.money import check_amounts_in_words, find_amounts, format_money
from nekibu.language.numbers import (
    document_locale,
    find_numbers,
    number_key,
    parse_words,
    read_number,
    search_keys,
)
from nekibu.language.periods import find_periods
from nekibu.language.rates import find_rates, format_rate


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("iki buçuk milyon", 2_500_000), ("yüz yirmi üç bin dört yüz elli altı", 123_456), ("onikibinbeşyüz", 12_500),
        ("ON İKİ BİN ELLİ", 12_050), ("bin", 1000), ("bin dokuz yüz doksan dokuz", 1999), ("bir milyon iki yüz bin", 1_200_000),
        ("yarım milyon", 500_000), ("sıfır", 0), ("uc yuz", 300), ("yetmiş", 70), ("iki milyar üç", 2_000_000_003),
    ],
)  # fmt: skip
def test_turkish_words_are_read_also_when_written_together(words: str, value: int) -> None:
    assert parse_words(words) == value


@pytest.mark.parametrize(
    "words",
    [
        "beş üç",
        "iki yirmi",
        "iki bin bin",
        "yüz iki yüz",
        "elma",
        "",
        "milyon",
        "bin milyon iki",
        "iki sıfır",
    ],
)
def test_words_that_do_not_follow_one_another_are_no_number(words: str) -> None:
    assert parse_words(words) is None


def _spell(number: int) -> str:
    units = ["", "bir", "iki", "üç", "dört", "beş", "altı", "yedi", "sekiz", "dokuz"]
    tens = ["", "on", "yirmi", "otuz", "kırk", "elli", "altmış", "yetmiş", "seksen", "doksan"]

    def below_thousand(part: int) -> list[str]:
        hundred = part // 100
        head = ([] if hundred == 1 else [units[hundred]]) + ["yüz"] if hundred else []
        return [*head, tens[part // 10 % 10], units[part % 10]]

    said: list[str] = []
    for scale, name in ((10**9, "milyar"), (10**6, "milyon"), (10**3, "bin")):
        part, number = divmod(number, scale)
        if part:
            said += [] if part == 1 and name == "bin" else below_thousand(part)
            said.append(name)
    return " ".join(word for word in [*said, *below_thousand(number)] if word) or "sıfır"


@given(st.integers(0, 10**12 - 1))
def test_what_is_spelled_is_read(number: int) -> None:
    assert parse_words(_spell(number)) == number
    assert parse_words(_spell(number).replace(" ", "")) == number


@pytest.mark.parametrize(
    ("raw", "readings"),
    [
        ("1.234,56", ["1234.56"]), ("1,234.56", ["1234.56"]), ("1'234,56", ["1234.56"]), ("1’234,56", ["1234.56"]),
        ("1 234 567,89", ["1234567.89"]), ("1\u00a0250,00", ["1250"]), ("1\u202f250", ["1250"]), ("1\u2009250", ["1250"]),
        (",89", ["0.89"]), ("12,-", ["12"]), ("(45,00)", ["-45"]), ("45,00-", ["-45"]), ("-5", ["-5"]),
        ("2.750", ["2750", "2.75"]), ("2,750", ["2750", "2.75"]), ("0.125", ["0.125"]), ("1234,567", ["1234.567"]),
        ("12.50", ["12.5"]), ("1.250.000", ["1250000"]), ("12,345,678.9", ["12345678.9"]), ("1.2.3", []), ("abc", []), ("1,23.456,7", []),
    ],
)  # fmt: skip
def test_a_figure_has_every_reading_and_no_other(raw: str, readings: list[str]) -> None:
    assert [number_key(value) for value in read_number(raw)] == readings


def test_a_locale_decides_what_the_figure_leaves_open() -> None:
    assert read_number("2.750", "tr") == (Decimal(2750),)
    assert read_number("2.750", "en") == (Decimal("2.750"),)
    assert read_number("2,750", "tr") == (Decimal("2.750"),)
    assert read_number("2,750", "en") == (Decimal(2750),)


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("Toplam 1.234,56", "tr"), ("Total 1,234.56", "en"), ("$12.50", "en"), ("2.750", None), ("1.234,56 and 1,234.56", None),
        ("Sözleşme bedeli 2.750 TL", "tr"), ("Python 3.11", None), ("Amount 2.750", None),
    ],
)  # fmt: skip
def test_the_document_decides_by_its_own_figures(text: str, locale: str | None) -> None:
    assert document_locale(text) == locale


@pytest.mark.parametrize("query", ["1250000", "1.250.000", "1.250.000,00", "1,250,000", "1 250 000"])
def test_an_amount_is_found_however_it_is_typed(query: str) -> None:
    assert search_keys(query) & search_keys("Bedel 1.250.000,00 TL")
    assert not search_keys(query) & search_keys("Bedel 1.250.001,00 TL")


def test_words_go_on_a_scale_only_when_they_are_smaller() -> None:
    assert [(one.raw, one.canonical) for one in find_numbers("3 bin beş yüz, 2 bin üç milyon, 4 milyon")] == [
        ("3 bin beş yüz", "3500"), ("2 bin", "2000"), ("üç milyon", "3000000"), ("4 milyon", "4000000"),
    ]  # fmt: skip


def test_numbers_in_dates_and_lone_words_are_none() -> None:
    text = "15.03.2026 tarihli, 3 adet, on kişi, yüz yirmi koli, 12 bin 500"
    assert [(one.raw, one.canonical) for one in find_numbers(text)] == [
        ("3", "3"), ("yüz yirmi", "120"), ("12 bin 500", "12500"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2,5 milyon TL", "2500000 TRY"), ("12 bin 500 TL", "12500 TRY"), ("on iki bin beş yüz TL", "12500 TRY"),
        ("1.250 TL", "1250 TRY"), ("₺1.250", "1250 TRY"), ("1.250 TRY", "1250 TRY"), ("1.250 Türk Lirası", "1250 TRY"),
        ("1.250,00TL", "1250 TRY"), ("TRY 1.250,50", "1250.5 TRY"), ("12 lira 50 kuruş", "12.5 TRY"), ("€1,234.56", "1234.56 EUR"),
        ("1,2 mn EUR", "1200000 EUR"), ("15 k USD", "15000 USD"), ("45.000,-TL", "45000 TRY"), ("100 bin TL'lik", "100000 TRY"),
        ("iki buçuk milyon dolar", "2500000 USD"), ("500 sterlin", "500 GBP"), ("7 bin avro", "7000 EUR"),
        ("45.000.-TL", "45000 TRY"), ("1.250.000.- TL", "1250000 TRY"), ("1 milyon iki yüz elli bin lira", "1250000 TRY"),
        ("1 milyon 250 bin TL", "1250000 TRY"), ("3 bin beş yüz TL", "3500 TRY"), ("YEDİ YÜZ ELLİ BİN TÜRK LİRASI", "750000 TRY"),
    ],
)  # fmt: skip
def test_amounts_are_read_with_their_currency(text: str, canonical: str) -> None:
    (found,) = find_amounts(f"Bedel: {text} olarak")
    assert (found.canonical, found.ambiguous) == (canonical, False)


def test_the_place_of_an_amount_counts_characters_of_the_figure() -> None:
    text = "ücret: 1.250,00 TL"
    (found,) = find_amounts(text)
    assert (found.start, found.end, found.raw) == (7, 15, "1.250,00")
    assert text[slice(*found.whole)] == "1.250,00 TL"


def test_open_figures_and_signs_keep_their_readings() -> None:
    (figure,) = find_amounts("3.350 USD")
    assert (figure.amount, figure.alternatives) == (None, ("3350 USD", "3.35 USD"))
    (sign,) = find_amounts("$500")
    assert sign.ambiguous and sign.alternatives[0] == "500 USD"


def test_several_amounts_do_not_share_a_currency_sign() -> None:
    found = find_amounts("2.000 TL 500 USD; 1.000 - 2.000 TL; 2019-2024 TL'siz; 15.03.2026")
    assert [one.canonical for one in found][:4] == ["2000 TRY", "500 USD", "1000 TRY", "2000 TRY"]
    assert find_amounts("5 adet, 2019-2024, 0532 123 45 67") == []


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("12.500,00 TL (on iki bin beş yüz TL)", "confirmed", "12500 TRY"),
        ("12.500,00 TL (yalnız onikibinbeşyüz TL)", "confirmed", "12500 TRY"),
        ("12.500,00 TL (on iki bin elli TL)", "conflict", "12050 TRY"),
        ("Yediyüz TL (700 TL)", "confirmed", "700 TRY"),
    ],
)
def test_an_amount_in_words_confirms_the_figures_or_contradicts_them(
    text: str, state: str, words: str
) -> None:
    (check,) = check_amounts_in_words(text)
    assert (check.state, check.words.canonical) == (state, words)


def test_money_and_rates_are_shown_the_turkish_way() -> None:
    assert format_money(Decimal("1234567.89"), "TRY") == "₺1.234.567,89"
    assert format_money(Decimal("1234567.89"), "EUR", "en") == "€1,234,567.89"
    assert (format_rate(Decimal(20)), format_rate(Decimal("2.75"))) == ("%20", "%2,75")
    assert format_rate(Decimal("2.75"), "en") == "2.75%"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("%20", "20 %"), ("% 20", "20 %"), ("%  20", "20 %"), ("yüzde on sekiz buçuk", "18.5 %"), ("yüzde 20", "20 %"), ("20%", "20 %"), ("20 percent", "20 %"), ("binde 2", "0.2 %"),
        ("5 ‰", "0.5 %"), ("%2,75", "2.75 %"), ("YÜZDE ON SEKİZ", "18 %"), ("%18'i", "18 %"), ("2.75%", "2.75 %"),
    ],
)  # fmt: skip
def test_rates_are_read_on_both_sides_of_the_sign(text: str, canonical: str) -> None:
    sentence = f"KDV {text} ve 5 adet"
    (found,) = find_rates(sentence)
    assert (found.canonical, found.ambiguous) == (canonical, False)
    assert sentence[found.start : found.end] == found.raw


def test_an_open_rate_keeps_both_readings() -> None:
    (found,) = find_rates("2.750%")
    assert (found.percent, found.alternatives) == (None, ("2750 %", "2.75 %"))


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("otuz gün içinde", ["P30D"]), ("12 ay ve 45 gün içinde", ["P12M45D"]), ("5 yıl deneyim", ["P5Y"]),
        ("5+ years of experience", ["P5Y"]), ("2,5 yıl", ["P2.5Y"]), ("30 (otuz) gün", ["P30D"]), ("10 iş günü", ["P10D"]),
        ("ten years of experience", ["P10Y"]), ("3 hafta 2 gün", ["P23D"]), ("24 saat", ["PT24H"]), ("1 yıl 6 ay", ["P1Y6M"]), ("30 gün, 45 gün", ["P30D", "P45D"]),
        ("2019 yılında", []), ("ayda bir", []), ("15 Mart 2026", []),
    ],
)  # fmt: skip
def test_periods_are_lengths_and_no_dates(text: str, periods: list[str]) -> None:
    found = find_periods(text)
    assert [one.canonical for one in found] == periods
    assert all(text[one.start : one.end] == one.raw for one in found)


def test_working_days_are_marked() -> None:
    assert [one.working_days for one in find_periods("10 iş günü; 10 gün; 5 business days")] == [
        True,
        False,
        True,
    ]


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_a_written_amount_is_read_back(amount: Decimal) -> None:
    for language, text in (("tr", format_money(amount, "TRY")), ("en", format_money(amount, "EUR", "en"))):
        (found,) = find_amounts(text, language)  # type: ignore[arg-type]
        assert found.amount == amount


@given(st.text(alphabet="0123456789.,-() ₺%TLbin€ yüzde\n'", max_size=60))
def test_figures_stand_where_they_are_said_to_stand(text: str) -> None:
    for one in [*find_numbers(text), *find_amounts(text), *find_rates(text)]:
        assert text[one.start : one.end] == one.raw
