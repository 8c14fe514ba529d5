"""The grammar of protected fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.protected import numbers, scan


@pytest.mark.parametrize(
    ("text", "kind", "raw"),
    [
        ("Maaş 1.234,56 TL idi", "money", "1.234,56 TL"),
        ("$1,234.56 a year", "money", "$1,234.56"),
        ("oran %2,75 oldu", "rate", "%2,75"),
        ("yüzde 40 arttı", "rate", "yüzde 40"),
        ("Mart 2019 – devam", "date", "Mart 2019"),
        ("2019-03", "date", "2019-03"),
        ("5 yıl deneyim", "duration", "5 yıl"),
        ("en az 3 yıl", "threshold", "en az 3 yıl"),
        ("a@x.example", "identifier", "a@x.example"),
        ("+90 532 123 45 67", "identifier", "+90 532 123 45 67"),
        ("https://x.example/cv", "source_uri", "https://x.example/cv"),
        ("12 kişi", "quantity", "12"),
        ("31 ARALIK 2026 günü", "date", "31 ARALIK 2026"),
        ("teslim 2/1/2026", "date", "2/1/2026"),
        ("2,5 milyon TL ciro", "money", "2,5 milyon TL"),
        ("12 bin 500 TL ödendi", "money", "12 bin 500 TL"),
        ("on iki bin beş yüz lira", "money", "on iki bin beş yüz lira"),
        ("1.250 Türk Lirası", "money", "1.250 Türk Lirası"),
        ("yüzde yirmi indirim", "rate", "yüzde yirmi"),
        ("binde 2 kesinti", "rate", "binde 2"),
        ("en az beş yıl", "threshold", "en az beş yıl"),
        ("en fazla %20", "threshold", "en fazla %20"),
        ("at most 1,000 USD", "threshold", "at most 1,000 USD"),
        ("12 ay ve 45 gün içinde", "duration", "12 ay ve 45 gün"),
        ("IBAN TR33 0006 1005 1978 6457 8413 26", "identifier", "TR33 0006 1005 1978 6457 8413 26"),
        ("linkedin.com/in/ali adresi", "source_uri", "linkedin.com/in/ali"),
    ],
)
def test_a_field_is_found_whole(text, kind, raw):
    assert (kind, raw) in {(f.kind, f.raw) for f in scan(text)}


def test_one_value_in_two_spellings_is_one_figure():
    assert numbers(scan("1.234,56 TL")) == numbers(scan("$1,234.56")) == {"1234.56"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mart 2019", "2019-03"),
        ("15 Mart 2026", "15.03.2026"),
        ("en az beş yıl", "at least 5 years"),
        ("2,5 milyon TL", "2.500.000 TL"),
        ("yüzde yirmi", "%20"),
        ("0532 123 45 67", "+90 532 123 45 67"),
    ],
)
def test_what_is_said_in_words_is_what_is_said_in_figures(one, other):
    assert numbers(scan(one)) == numbers(scan(other)) != frozenset()


def test_a_scale_is_part_of_the_amount():
    assert not numbers(scan("2,5 milyar TL")) <= numbers(scan("2,5 milyon TL"))


def test_words_without_a_number_hold_nothing():
    assert scan("Tedarikçi görüşmelerini yürüttü; ekip kurdu, on yüz diye bir ifade.") == ()


PARTS = st.sampled_from(
    ["250,50", "TL", "%", "yüzde", "yirmi", "en az", "5", "yıl", "Mart", "2019", "0532", "123", "45", "67", "a@b.co", "12", "bin", "–", ",", "iş", "Tel:"]
)  # fmt: skip


@given(st.lists(st.tuples(PARTS, st.sampled_from([" ", "  ", "\t", "\n", "\n  ", "\u00a0"])), max_size=12))
def test_idle_blanks_decide_nothing(parts):
    wide = "".join(word + blank for word, blank in parts)
    levelled = " ".join(word for word, _ in parts)
    found = scan(wide)
    assert all(wide[f.start : f.end] == f.raw for f in found)
    assert [(f.kind, " ".join(f.raw.split()), f.canonical) for f in found] == [
        (f.kind, f.raw, f.canonical) for f in scan(levelled)
    ]


def test_an_undecidable_figure_keeps_both_readings():
    assert numbers(scan("1.234")) == {"1234", "1.234"}
