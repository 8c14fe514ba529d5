"""Dates and intervals: what is stated is read as precisely as stated, and nothing else is taken for a date."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.errors import InvalidInput
from nekibu.language.dates import (
    Interval,
    Months,
    PartialDate,
    contradictions,
    document_year,
    find_dates,
    find_invalid_dates,
    intervals,
    months_union,
    parse_end,
    parse_partial,
)

AS_OF = date(2026, 6, 30)


def read(text: str) -> list[tuple[str, str | None]]:
    return [(found.start.iso(), found.end.iso() if found.end else None) for found in intervals(text)]


def months(*lines: str, as_of: date = AS_OF) -> Months:
    return months_union(intervals("\n".join(lines)), as_of)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2019-2024", "2019", "2024"),
        ("2019 – 2024", "2019", "2024"),
        ("2017 → 2019", "2017", "2019"),
        ("01/2019 - 06/2021", "2019-01", "2021-06"),
        ("01.2019-06.2021", "2019-01", "2021-06"),
        ("2018-01 to 2020-12", "2018-01", "2020-12"),
        ("2018.03 - 2019.04", "2018-03", "2019-04"),
        ("Mart 2018 - Şubat 2021", "2018-03", "2021-02"),
        ("MART 2018 – ŞUBAT 2021", "2018-03", "2021-02"),
        ("mart 2018 - subat 2021", "2018-03", "2021-02"),
        ("Haz. 2019 – Eyl. 2020", "2019-06", "2020-09"),
        ("2018 Mart - 2019 Nisan", "2018-03", "2019-04"),
        ("Ocak - Mart 2020", "2020-01", "2020-03"),
        ("Jun 2018—Aug 2019", "2018-06", "2019-08"),
        ("Sept. 2018 through October 2019", "2018-09", "2019-10"),
        ("Mar 19 - Jun 21", "2019-03", "2021-06"),
        ("Nov’20 – Dec’21", "2020-11", "2021-12"),
        ("'19 – '22", "2019", "2022"),
        ("2018/19", "2018", "2019"),
        ("2018/2019", "2018", "2019"),
        ("01.02.2019 - 05.06.2021", "2019-02-01", "2021-06-05"),
        ("June 1, 2019 - May 3, 2020", "2019-06-01", "2020-05-03"),
        ("15 Mart 2019 - 20 Nisan 2020", "2019-03-15", "2020-04-20"),
        ("1 Ocak – 31 Mart 2020", "2020-01-01", "2020-03-31"),
        ("Mart 2018'den Şubat 2021'e kadar", "2018-03", "2021-02"),
        ("2018 ile 2021 arasında", "2018", "2021"),
        ("2018 ve 2021 yılları arasında", "2018", "2021"),
        ("between 2018 and 2020", "2018", "2020"),
        ("(06.2018) - (08.2020)", "2018-06", "2020-08"),
        ("2019 -\n2024", "2019", "2024"),
        ("Haziran 2018\n–\nAğustos 2020", "2018-06", "2020-08"),
        ("03/18 - 02/21", "2018-03", "2021-02"),
        ("01/2020 / 03/2022", "2020-01", "2022-03"),
        ("01.2018\t03.2021", "2018-01", "2021-03"),
        ("Ocak 2020 | Mart 2022", "2020-01", "2022-03"),
        ("Başlangıç: 01.2019 Bitiş: 06.2021", "2019-01", "2021-06"),
    ],
)
def test_closed_intervals_are_read_at_their_precision(text: str, start: str, end: str) -> None:
    line = f"Kıdemli Uzman, ACME A.Ş. {text}"
    assert read(line) == [(start, end)]
    (found,) = intervals(line)
    assert line[found.start_offset :].startswith(line[found.start_offset : found.end_offset])
    assert line[found.start_offset : found.end_offset].strip("()") in text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Jan '22 - Present", "2022-01"),
        ("Jan 2020 to date", "2020-01"),
        ("Jan 2020 - till date", "2020-01"),
        ("Ocak 2020 – halen", "2020-01"),
        ("Ocak 2020, devam ediyor", "2020-01"),
        ("Ocak 2020 (devam ediyor)", "2020-01"),
        ("OCAK 2020 - DEVAM EDİYOR", "2020-01"),
        ("Ocak 2020 - günümüz", "2020-01"),
        ("01.2020 – Günümüze kadar", "2020-01"),
        ("2020 - hâlâ", "2020"),
        ("2020-hala çalışıyor", "2020"),
        ("Kasım 2020 - Çalışıyor", "2020-11"),
        ("Ocak 2020 – Şu an", "2020-01"),
        ("2019'dan beri", "2019"),
        ("2020’den bu yana", "2020"),
        ("2019 yılından beri", "2019"),
        ("Mart 2018'den itibaren", "2018-03"),
        ("2021'den günümüze", "2021"),
        ("since 2019", "2019"),
        ("Since January 2020", "2020-01"),
        ("from March 2018 to present", "2018-03"),
        ("March 2018 onwards", "2018-03"),
        ("2022 to the present day", "2022"),
        ("2020–present", "2020"),
        ("September 2019 – Current", "2019-09"),
        ("Feb 2021 - Now", "2021-02"),
        ("01.2019–", "2019-01"),
        ("01.2019 - ...", "2019-01"),
        ("2018 - ongoing", "2018"),
        ("01.2018\thalen", "2018-01"),
        ("03/18 - halen", "2018-03"),
    ],
)
def test_every_usual_way_to_say_until_now_is_an_open_end(text: str, start: str) -> None:
    assert read(text) == [(start, None)]
    assert read(f"ACME\n{text}\nPython developer") == [(start, None)]


@pytest.mark.parametrize(
    "text",
    [
        "2001 1995", "Ciro: 150000 TL", "2019-2024 TL", "2.019-2.024 TL", "(0532) 2019-2024", "+90 532 2019-2024",
        "Tel: 0212 201 92 024", "ISO 9001:2015 - 2019", "2026/118-A", "2019 – ACME", "2019\n- 2020 yılında geldi",
        "linkedin.com/in/ali-2019-2020", "30.02.2016 - 05.2018", "13/2019 - 06/2021", "2014-13 - 2015-02",
        "Mart ve Nisan 2020", "2015, 2016", "sürüm 3.10.2019", "may 19 people - jun", "2019 2020", "2019\t2020\t2021", "2021 | 2019", "Oran 03/18, 02/21", "09:00/18:00", "03/18",
    ],
)  # fmt: skip
def test_phones_amounts_standards_and_impossible_days_are_no_interval(text: str) -> None:
    assert read(text) == []


def test_several_jobs_keep_their_own_intervals() -> None:
    text = "ACME 2019-2024\nPython developer\nBETA 2015-2019\nTester\nGAMMA Temmuz 2014-Halen, 2010 - 2012"
    assert read(text) == [("2019", "2024"), ("2015", "2019"), ("2014-07", None), ("2010", "2012")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("2018-01 to 2020-12", "2020-01 to 2021-12"), Months(48, 48)),
        (("2012-06 to 2013-05", "2014-06 to 2016-05"), Months(36, 36)),
        (("Ocak 2020 - Ocak 2020",), Months(1, 1)),
        (("Ocak 2026 - halen",), Months(6, 6)),
        (("2019 - 2024",), Months(50, 72)),
        (("2015 - 2019", "2019 - 2024"), Months(88, 120)),
        (("2019 - 2019",), Months(1, 12)),
        (("2019 - 2019", "2019 - 2019"), Months(1, 12)),
        (("2019 - 2019", "03/2019 - 04/2019"), Months(2, 12)),
        (("2025'ten beri",), Months(7, 18)),
        (("2026 - halen",), Months(1, 6)),
        (("2027 - 2028",), Months(0, 0)),
        (("2024 - 2020",), Months(0, 0)),
        (("2025-01 to 2030-12",), Months(18, 18)),
        ((), Months(0, 0)),
    ],
)
def test_months_are_the_union_of_the_intervals(lines: tuple[str, ...], expected: Months) -> None:
    assert months(*lines) == expected


def test_a_threshold_inside_the_range_is_for_a_person() -> None:
    stated = months("2019 - 2024")
    assert [stated.compare(required) for required in (50, 60, 72, 73)] == [
        "met",
        "uncertain",
        "uncertain",
        "not_met",
    ]


def test_intervals_that_cannot_be_are_found() -> None:
    stretches = intervals("03/2021 - 01/2020\n2031 - 2032\n2020 - 2030\n2019 - 2020\n2020 - 2020")
    found = [(finding.code, finding.interval.start.iso()) for finding in contradictions(stretches, AS_OF)]
    assert found == [
        ("end_before_start", "2021-03"),
        ("starts_in_future", "2031"),
        ("ends_in_future", "2020"),
    ]


@pytest.mark.parametrize("text", ["2014", "2014-06", "2014-06-15", "2016-02-29"])
def test_an_imported_date_keeps_its_precision(text: str) -> None:
    assert parse_partial(text).iso() == text


@pytest.mark.parametrize(
    "text", ["2016-02-30", "2014-13", "2014-6", "2014-15", "2014-00", "14", "", "soon", "2023-02-29"]
)
def test_an_impossible_import_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_partial(text, field="work[0].startDate")
    assert refused.value.data["field"] == "work[0].startDate"


@pytest.mark.parametrize(
    "text", [None, "", "Present", "present", "halen", "Günümüz", "devam ediyor", "to date", "Current"]
)
def test_an_imported_open_end_is_no_date(text: str | None) -> None:
    assert parse_end(text) is None


def test_an_imported_end_is_a_date_otherwise() -> None:
    assert parse_end("2014-06") == PartialDate(2014, 6)
    with pytest.raises(InvalidInput):
        parse_end("2014-13")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("31 ARALIK 2026", "2026-12-31"), ("15 Mart 2026", "2026-03-15"), ("01.02.2026", "2026-02-01"),
        ("2/1/2026", "2026-01-02"), ("5th of May 2020", "2020-05-05"), ("03/15/2019", "2019-03-15"),
        ("2026-03-15", "2026-03-15"), ("1 MAYIS 2020", "2020-05-01"), ("Ağustos 2021", "2021-08"),
        ("A\u0306gustos 2021".replace("A\u0306g", "Ag\u0306"), "2021-08"),
    ],
)  # fmt: skip
def test_single_dates_are_read_day_first(text: str, canonical: str) -> None:
    sentence = f"Tarih: {text}'da"
    (found,) = find_dates(sentence)
    assert (found.canonical, found.raw, found.ambiguous) == (canonical, text, False)
    assert sentence[found.start : found.end] == text


def test_an_undecided_order_keeps_both_readings() -> None:
    (found,) = find_dates("2/1/2026", day_first=None)
    assert (found.ambiguous, found.alternatives) == (True, ("2026-01-02", "2026-02-01"))
    (short,) = find_dates("15.03.26")
    assert short.ambiguous


def test_a_day_without_year_takes_the_year_of_the_document_and_says_so() -> None:
    text = "Sözleşme 15.03.2026 tarihlidir. 1 Ocak'ta başlar."
    assert document_year(text) == 2026
    first, second = find_dates(text, year=document_year(text))
    assert (first.canonical, first.inferred_year) == ("2026-03-15", False)
    assert (second.canonical, second.raw, second.inferred_year) == ("2026-01-01", "1 Ocak", True)
    assert [found.raw for found in find_dates(text)] == ["15.03.2026"]
    assert document_year("15.03.2026 ve 15.03.2027") is None


@pytest.mark.parametrize(
    "text", ["29.02.2026", "2016-02-30", "2014-13", "31 Nisan 2020", "45.01.2020", "30/02/2020"]
)
def test_days_that_do_not_exist_are_reported_and_not_shifted(text: str) -> None:
    assert find_dates(f"Tarih: {text}.") == []
    assert [found.raw for found in find_invalid_dates(f"Tarih: {text}.")] == [text]


@pytest.mark.parametrize(
    "text", ["otuz gün içinde", "12 ay ve 45 gün içinde", "Madde 45/2019", "1.250,00 TL", "10.12.15.1"]
)
def test_periods_and_numbers_are_no_dates(text: str) -> None:
    assert find_dates(text) == [] and find_invalid_dates(text) == []


PARTIALS = st.builds(PartialDate, st.integers(2000, 2025), st.none() | st.integers(1, 12))
STRETCHES = st.lists(st.tuples(PARTIALS, PARTIALS).map(lambda pair: Interval(*pair, 0, 1)), max_size=6)


@given(STRETCHES)
def test_a_union_is_never_more_than_the_sum_and_never_less_than_the_longest(
    stretches: list[Interval],
) -> None:
    whole = months_union(stretches, AS_OF)
    alone = [months_union([stretch], AS_OF) for stretch in stretches]
    assert 0 <= whole.min <= whole.max
    assert whole.max <= sum(one.max for one in alone) and whole.min <= sum(one.min for one in alone)
    assert whole.max >= max((one.max for one in alone), default=0)
    assert whole.min >= max((one.min for one in alone), default=0)


@given(STRETCHES, st.data())
def test_every_way_to_fill_in_the_months_lies_in_the_range(
    stretches: list[Interval], data: st.DataObject
) -> None:
    filled: set[int] = set()
    for stretch in stretches:
        assert stretch.end is not None
        choose = st.integers(1, 12)
        start = stretch.start.year * 12 + (stretch.start.month or data.draw(choose)) - 1
        end = stretch.end.year * 12 + (stretch.end.month or data.draw(choose)) - 1
        if (
            end < start
            and not contradictions([stretch], AS_OF)
            and stretch.end.latest >= stretch.start.earliest
        ):
            return  # this filling is impossible
        filled.update(range(start, end + 1))
    whole = months_union(stretches, AS_OF)
    assert whole.min <= len(filled) <= whole.max


@given(st.text(alphabet="0123456789.-/ '–OcakMrtJanhle\n", max_size=50))
def test_dates_stand_where_they_are_said_to_stand(text: str) -> None:
    for found in find_dates(text, years=True):
        assert text[found.start : found.end] == found.raw
    for stretch in intervals(text):
        assert 0 <= stretch.start_offset < stretch.end_offset <= len(text)
