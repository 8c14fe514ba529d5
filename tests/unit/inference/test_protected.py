"""The grammar of protected fields."""

from __future__ import annotations

import pytest

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
    ],
)
def test_a_field_is_found_whole(text, kind, raw):
    assert (kind, raw) in {(f.kind, f.raw) for f in scan(text)}


def test_one_value_in_two_spellings_is_one_figure():
    assert numbers(scan("1.234,56 TL")) == numbers(scan("$1,234.56")) == {"1234.56"}


def test_an_undecidable_figure_keeps_both_readings():
    assert numbers(scan("1.234")) == {"1234", "1.234"}
