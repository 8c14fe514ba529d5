"""Compression loses nothing that is protected, or refuses itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from inference.compression import compress
from inference.protected import extract, multiset, scan
from tests.unit.inference.specs import pieces


def run(found, extractor=extract, mode="lossless"):
    return compress(
        found, extract(found), mode=mode, extract=extractor, count=lambda text: len(text.encode())
    )


def test_a_running_header_is_sent_once():
    found = []
    for page in (1, 2, 3):
        for number, piece in enumerate(pieces("Ayşe Yılmaz, özgeçmiş 2026", f"Satır {page}", f"Son {page}")):
            found.append(replace(piece, id=f"E{page * 10 + number}", page=page))
    result = run(tuple(found))
    assert [(r.evidence_id, r.reason, r.kept) for r in result.removals] == [
        ("E20", "BOILERPLATE", "E10"),
        ("E30", "BOILERPLATE", "E10"),
    ]
    assert result.tokens_before - result.tokens_after == sum(r.tokens for r in result.removals)


def test_the_same_title_in_two_jobs_stays():
    found = pieces("ACME 2019-2021", "Yazılım Geliştirici", "BETA 2021-2024", "Yazılım Geliştirici")
    assert run(found).evidence == found


def test_a_copied_block_is_sent_once():
    block = [
        f"In {year} I led the migration of the billing system to PostgreSQL." for year in (2019, 2020, 2021)
    ]
    result = run(pieces(*block, "Hobbies", *block))
    assert [r.reason for r in result.removals] == ["DUP_SPAN"] * 3
    assert [r.kept for r in result.removals] == ["E1", "E2", "E3"]
    assert [p.id for p in result.evidence] == ["E1", "E2", "E3", "E4"]


def test_blanks_around_an_amount_go_and_those_inside_stay():
    result = run(pieces("Bütçe:   1\u00a0250,50 TL   yıllık"))
    assert result.evidence[0].text == "Bütçe: 1\u00a0250,50 TL yıllık"
    assert [r.reason for r in result.removals] == ["WHITESPACE"]


def test_a_blank_whose_removal_would_make_an_amount_stays():
    found = pieces("250,50  TL", "Bedel:   on iki bin  TL")
    result = run(found)
    assert [piece.text for piece in result.evidence] == ["250,50  TL", "Bedel: on iki bin  TL"]


def test_it_refuses_itself_when_a_field_is_missing_afterwards():
    found = pieces("Bütçe:   1.250,50 TL")
    result = run(found, extractor=lambda after: ())
    assert result.state == "refused"
    assert result.evidence == found
    assert result.reasons[0] == "COMPRESSION_REFUSED"


line = st.text(alphabet="ab 1.,%₺\t\u00a0TL2019-", max_size=60)


@given(st.lists(line, max_size=12), st.integers(1, 4))
def test_protected_fields_before_and_after_are_one_multiset(lines, repeat):
    found = pieces(*(lines * repeat))
    result = run(found)
    removed = {r.evidence_id for r in result.removals if r.kept}
    kept = multiset(f for piece in result.evidence for f in scan(piece.text, piece.id))
    gone = multiset(f for f in extract(found) if f.evidence_id in removed)
    assert kept + gone == multiset(extract(found))
    order = [p.id for p in found]
    assert [p.id for p in result.evidence] == [i for i in order if i in {p.id for p in result.evidence}]


@given(line)
def test_a_field_is_exactly_its_characters(text):
    found = scan(text)
    assert all(text[f.start : f.end] == f.raw for f in found)
    assert Counter(scan(text)) == Counter(found)


def test_quoted_mail_goes_where_its_words_stand_unquoted():
    found = pieces(
        "Teklifiniz 1.250 TL ile kabul edildi.", "> > Teklifiniz 1.250 TL ile\n> kabul edildi.", "> Başka söz"
    )
    result = run(found)
    assert [(r.evidence_id, r.reason, r.kept, r.kept_span) for r in result.removals] == [
        ("E2", "QUOTE_CHAIN", "E1", (found[0].start, found[0].end))
    ]


def test_only_the_last_run_of_a_tool_speaks():
    first, other, last = (
        replace(p, kind="tool_output", document_id="stock?item=7")
        for p in pieces("5 adet", "9 adet", "3 adet")
    )
    found = (
        replace(first, version_id="1"),
        replace(other, document_id="price?item=7"),
        replace(last, version_id="2"),
    )
    result = run(found)
    assert [(r.evidence_id, r.reason) for r in result.removals] == [("E1", "STALE_TOOL_OUTPUT")]
    assert [p.text for p in result.evidence] == ["9 adet", "3 adet"]


def test_json_loses_its_blanks_and_nothing_else():
    text = '{ "tutar" : "1.250,00 TL",\n  "not": "iki  boşluk", "adet": 7 }'
    (piece,) = pieces(text)
    result = run((replace(piece, kind="json"),))
    assert result.evidence[0].text == '{"tutar":"1.250,00 TL","not":"iki  boşluk","adet":7}'
    assert [r.reason for r in result.removals] == ["SERIALIZATION"]
    for stays in ("{ bozuk", "[ 3, 7 ]"):  # without its blank, 3, 7 would read 3,7
        as_it_is = replace(piece, kind="json", text=stays)
        assert run((as_it_is,)).evidence == (as_it_is,)


def test_a_table_keeps_its_header_and_loses_its_ruling():
    text = "| Kalem   | Tutar    |\n|---------|----------|\n| Boru    | 1.250 TL |"
    (piece,) = pieces(text)
    result = run((replace(piece, kind="table"),))
    assert result.evidence[0].text == "|Kalem|Tutar|\n|---|---|\n|Boru|1.250 TL|"


def test_each_removal_names_its_span_and_its_characters():
    block = [f"In {year} I led the migration of the billing system to PostgreSQL." for year in (2019, 2020)]
    found = pieces(*block, *block)
    removal = run(found).removals[0]
    assert (removal.start, removal.end, removal.kept_span) == (
        found[2].start,
        found[2].end,
        (0, len(block[0])),
    )
    assert removal.span_hash == found[2].text_hash
