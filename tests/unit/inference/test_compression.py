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
