"""What holds of every text: exact characters, union over clauses, one result, and values that survive being written out."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal

from hypothesis import assume, example, given
from hypothesis import strategies as st

from inference.protected import clauses, scan, write

LOCALES = st.sampled_from(["tr", "en"])
SENTENCES = st.sampled_from(
    [
        "Bedel 1.234,56 TL olarak ödenir.", "Total 1,234.56 USD is due.", "Faiz %2,75 uygulanır!", "Teslim 15 Mart 2026 günüdür.",
        "En az 3 yıl deneyim gerekir.", "KDV hariçtir.", "kargo dahil;", "Vergi No. 2000000010 kayıtlıdır.", "Dr. Şahin onaylar.",
        "The supplier shall pay, unless agreed otherwise.", "• 12 bin 500 TL", "Plaka 34 ABC 123.", "Sonuç 250. Ödeme 30 gün içinde.",
        "Doğum tarihi: 01.02.1990", "2/1/2026 tarihli yazı…", "“Süre 5 gün.” Bitti.", "ve 1.250 adet", "½ inç boru,",
    ]
)  # fmt: skip
TEXTS = st.lists(SENTENCES, min_size=1, max_size=6).map(" ".join)
WRITINGS = st.sampled_from(["tr", "en", "open"])


def placed(fields, shift=0):
    return Counter((f.kind, f.raw, f.canonical, f.start + shift, f.end + shift, f.ambiguous) for f in fields)


@given(TEXTS, WRITINGS)
def test_a_text_holds_the_union_of_what_its_parts_hold(text, writing):
    whole = placed(scan(text, writing=writing))
    for _start, cut in clauses(text):
        parts = placed(scan(text[:cut], writing=writing)) + placed(scan(text[cut:], writing=writing), cut)
        assert parts == whole, text[:cut]


@given(TEXTS, WRITINGS)
def test_every_field_is_exactly_its_characters_and_two_runs_agree(text, writing):
    found = scan(text, writing=writing)
    assert all(text[f.start : f.end] == f.raw for f in found)
    assert found == scan(text, writing=writing)


@given(TEXTS)
def test_clauses_tile_the_text(text):
    assert "".join(text[start:end] for start, end in clauses(text)) == text


def read_back(kind, canonical, locale):
    text = write(kind, canonical, locale)
    return {(f.kind, f.canonical, f.raw == text) for f in scan(text, writing=locale)}, (kind, canonical, True)


amounts = st.decimals(min_value=0, max_value=10**11, places=2, allow_nan=False)
plain_number = amounts.map(lambda value: format(value.normalize(), "f"))


@given(plain_number, st.sampled_from(["TRY", "USD", "EUR", "GBP", "JPY"]), LOCALES)
def test_an_amount_survives_being_written(figure, code, locale):
    found, wanted = read_back("money", f"{figure} {code}", locale)
    assert wanted in found


@given(st.decimals(min_value=0, max_value=999, places=3), LOCALES)
def test_a_rate_survives_being_written(value, locale):
    found, wanted = read_back("rate", f"{format(value.normalize(), 'f')} %", locale)
    assert wanted in found


@given(st.dates(min_value=date(1940, 1, 1), max_value=date(2099, 12, 31)), st.booleans(), LOCALES)
def test_a_date_survives_being_written_at_its_precision(day, whole, locale):
    found, wanted = read_back("date", day.isoformat() if whole else day.isoformat()[:7], locale)
    assert wanted in found


@given(st.integers(1, 99), st.integers(1, 99), st.booleans(), LOCALES)
def test_a_duration_survives_being_written(months, days, working, locale):
    for canonical in (f"P{months}M{days}D", f"P{days}D" + (" working" if working else "")):
        found, wanted = read_back("duration", canonical, locale)
        assert wanted in found


@given(plain_number, st.sampled_from(["", " m2", " kg", " pcs", " in"]), LOCALES)
@example("0", "", "tr")
def test_a_quantity_survives_being_written(figure, unit, locale):
    found, wanted = read_back("quantity", f"{figure}{unit}", locale)
    assert wanted in found


@given(st.sampled_from([">=", "<=", ">", "<"]), st.integers(1, 60), LOCALES)
def test_a_threshold_survives_being_written(side, figure, locale):
    for value in (f"{figure} %", f"P{figure}D", f"{figure} TRY", f"{figure} kg", str(figure)):
        assume(value)
        found, wanted = read_back("threshold", f"{side} {value}", locale)
        assert wanted in found


def test_no_digit_is_rounded_away():
    assert write("money", "0.123456789 JPY", "en") == "0.123456789 JPY"
    assert Decimal("0.123456789") == Decimal(scan("0.123456789 JPY", writing="en")[0].canonical.split()[0])
