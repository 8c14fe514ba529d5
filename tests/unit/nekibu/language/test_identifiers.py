"""Identifiers: found by shape and cue, proved by check digits, one canonical form for all spellings."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.identifiers import (
    email_key,
    find_emails,
    find_identifiers,
    find_phones,
    phone_e164,
    reference_keys,
)


def kinds(text: str) -> list[tuple[str, str, bool]]:
    return [(one.kind, one.canonical, one.valid) for one in find_identifiers(text)]


@pytest.mark.parametrize(
    "spelling",
    [
        "+90 532 123 45 67", "0532 123 45 67", "(0532) 123-45-67", "05321234567", "+905321234567", "0 532 123 4567",
        "0532-123-45-67", "0532.123.45.67", "00 90 532 123 45 67", "+90 (532) 123 45 67", "532 123 45 67", "0 (532) 123 45 67",
        "0532\u00a0123\u202f45\u00a067", "0532‑123–45–67", "+90 532−123 45 67", "０５３２ １２３ ４５ ６７", "+90 0532 123 45 67", "0532/123 45 67",
    ],
)  # fmt: skip
def test_one_number_for_every_spelling(spelling: str) -> None:
    for text in (spelling, f"Tel: {spelling}, Ankara", f"({spelling})"):
        (phone,) = find_phones(text)
        assert phone.canonical == "+905321234567"
        assert text[phone.start : phone.end] == phone.raw
    assert phone_e164(spelling.replace("00 90", "+90")) == "+905321234567"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0 (212) 555 44 33", "+902125554433"), ("(212) 555 44 33", "+902125554433"), ("tel 3125554433", "+903125554433"),
        ("+44 20 7946 0958 London", "+442079460958"), ("+1 415 555 2671", "+14155552671"), ("+49 (0) 30 901820", "+4930901820"),
        ("+1 (415) 555-2671", "+14155552671"), ("+994 50 123 45 67", "+994501234567"), ("0 850 222 11 00", "+908502221100"),
    ],
)  # fmt: skip
def test_landlines_and_foreign_numbers_are_phones(text: str, number: str) -> None:
    assert [phone.canonical for phone in find_phones(text)] == [number]


def test_two_numbers_stay_two() -> None:
    for text in (
        "05321234567, 0 212 555 44 33",
        "05321234567 02125554433",
        "05321234567/02125554433"[:11] + ",02125554433",
    ):
        assert [phone.canonical for phone in find_phones(text)] == ["+905321234567", "+902125554433"]


@pytest.mark.parametrize(
    "text",
    [
        "2001 1995", "Ciro: 150000 TL", "2015-2019 2019-2024", "01/2019 - 06/2021", "05.06.2021 13:45", "4500012345",
        "Acme A.Ş. 01.02.2019 - 05.06.2021", "1.234.567,89 TL", "sipariş no 5321234567", "ISO 27001 2013 2019",
        "Posta kodu 06510", "12 345 678 90", "Ciro: 532 123 45 67 TL", "150.000.000 TL",
    ],
)  # fmt: skip
def test_years_dates_amounts_and_orders_are_no_phones(text: str) -> None:
    assert find_identifiers(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("TCKN 10000000146", [("tckn", "10000000146", True)]),
        ("T.C. Kimlik No: 100 000 001 46", [("tckn", "10000000146", True)]),
        ("TCKN: 100 00 000 146", [("tckn", "10000000146", True)]),
        (
            "IBAN: TR33\u00a00006\u00a01005\u00a01978\u00a06457\u00a08413\u00a026",
            [("iban", "TR330006100519786457841326", True)],
        ),
        ("10000000146", [("tckn", "10000000146", True)]),
        ("TCKN 10000000147", [("tckn", "10000000147", False)]),
        ("10000000147", []),
        ("VKN 2000000010", [("vkn", "2000000010", True)]),
        ("Vergi No: 2000000011", [("vkn", "2000000011", False)]),
        ("VKN 1234567890", [("vkn", "1234567890", True)]),
        ("sicil no 1234567890", []),
        ("Fatura no 12345678901", []),
        ("sipariş 98765432109", []),
        ("TR33 0006 1005 1978 6457 8413 26", [("iban", "TR330006100519786457841326", True)]),
        ("tr330006100519786457841326", [("iban", "TR330006100519786457841326", True)]),
        ("IBAN: TR34 0006 1005 1978 6457 8413 26", [("iban", "TR340006100519786457841326", False)]),
        ("DE89 3704 0044 0532 0130 00 Berlin", [("iban", "DE89370400440532013000", True)]),
        ("kart 4111-1111-1111-1111", [("card", "4111111111111111", True)]),
        ("kart no 4111 1111 1111 1112", [("card", "4111111111111112", False)]),
        ("4111 1111 1111 1112", []),
        ("plaka 34 ABC 123", [("plate", "34ABC123", True)]),
        ("06 AB 1234", [("plate", "06AB1234", True)]),
        ("16 GB 3200, 34 TL 500, 12 OCA 20", []),
        ("linkedin.com/in/ayse-yilmaz.", [("url", "linkedin.com/in/ayse-yilmaz", True)]),
    ],
)
def test_numbers_are_proved_or_flagged_only_beside_their_cue(
    text: str, found: list[tuple[str, str, bool]]
) -> None:
    assert kinds(text) == found


def test_addresses_are_never_lowered_the_turkish_way() -> None:
    assert email_key("IRMAK@EXAMPLE.COM") == email_key("irmak@example.com") == "irmak@example.com"
    assert email_key("Ali@x.example") == email_key("ali@x.example ")
    assert [mail.canonical for mail in find_emails("IRMAK@EXAMPLE.COM; ali (at) ornek.com.tr")] == [
        "irmak@example.com",
        "ali@ornek.com.tr",
    ]


@pytest.mark.parametrize(
    ("text", "query"),
    [("2026/118-A", "2026/118-A"), ("2026/118-A", "118-A"), ("TR12 3456", "TR123456"), ("bkz. 2026/118-a.", "118-A"), ("TR123456", "tr123456")],
)  # fmt: skip
def test_references_are_found_whole_in_part_and_without_blanks(text: str, query: str) -> None:
    assert reference_keys(query) & reference_keys(text)


def test_another_reference_is_not_found() -> None:
    assert not reference_keys("119-A") & reference_keys("2026/118-A")
    assert not reference_keys("TR123457") & reference_keys("TR12 3456")


@given(st.text(alphabet="0123456789 +()-./@aTR,:\n", max_size=80))
def test_identifiers_stand_where_they_are_said_to_stand(text: str) -> None:
    found = find_identifiers(text)
    for one in found:
        assert text[one.start : one.end] == one.raw
    for one, following in itertools.pairwise(found):
        assert one.end <= following.start
