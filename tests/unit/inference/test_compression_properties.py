"""What holds of every compression: one multiset, kept order, exact arithmetic, one result; and a planted fault is refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.compression import Selection, compress
from inference.compression.proof import broken
from inference.protected import clauses, extract, locales
from inference.types import Removal, one_line
from tests.unit.inference.specs import pieces

PLANTED = [
    "34 ABC 123 plakalı araç", "Tutar 12.500,00 TL", "bedel\u00a01\u00a0250,50 TL", "oran %2,75", "31 ARALIK 2026 günü", "en az 3 yıl",
    "VKN 2000000010", "a@x.example", "3, 7, 19, 22 and 45", "Tedarikçi öder ve teslim etmelidir", "KDV hariç", "25 m² boru",
]  # fmt: skip
PLAIN = ["Hava  güzeldi", "Bahçede\tkuşlar öttü", "Ödemeler ay sonunda yapılır", "Toplantı odası geniştir", "> alıntı", "Dr. Şahin geldi"]  # fmt: skip
SENTENCE = st.sampled_from([*PLANTED, *PLAIN])
END = st.sampled_from([". ", "; ", "! ", ".  ", " "])
LINE = st.lists(st.tuples(SENTENCE, END), min_size=1, max_size=4).map(
    lambda parts: "".join(word + end for word, end in parts).strip()
)
DOCUMENT = st.lists(LINE, min_size=1, max_size=10)
ASKED = st.builds(
    Selection,
    st.sampled_from(["Ödeme ne zaman?", "kuş", "Kargo ücreti?"]),
    st.just(()),
    st.integers(0, 40),
    st.booleans(),
    st.integers(0, 1),
    st.just(0.15),
    st.sampled_from([None, frozenset({"obligation", "exception"}), frozenset()]),
)


def count(text):
    """Like a tokenizer: blanks are free, a token never goes over four characters, and merges depend on neighbours."""
    return sum(-(-len(word) // 4) for word in text.split()) + text.count("  ")


def run(found, selection=None, **changes):
    how = {"mode": "select" if selection else "lossless", "extract": extract, "count": count, "cut": clauses}
    return compress(found, extract(found), selection=selection, **{**how, **changes})


def named(fields):
    return Counter((f.kind, one_line(f.raw)) for f in fields)


@settings(max_examples=100)
@given(DOCUMENT, st.integers(1, 3), st.one_of(st.none(), ASKED))
def test_fields_before_are_fields_after_and_fields_removed(lines, repeat, selection):
    found = pieces(*(lines * repeat))
    known = locales(found)
    before = extract(found, known)
    result = run(found, selection, extract=lambda some: extract(some, known))
    assert result.state != "refused", result.reasons
    after = extract([replace(p, text=p.line) for p in result.evidence], known)
    texts = {p.id: p for p in found}
    gone = []
    for removal in result.removals:
        if removal.reason not in {"WHITESPACE", "SERIALIZATION"}:
            start = removal.start - texts[removal.evidence_id].start
            end = removal.end - texts[removal.evidence_id].start
            gone += [
                f for f in before if f.evidence_id == removal.evidence_id and start <= f.start < f.end <= end
            ]
    assert named(after) + named(gone) == named(before)
    if selection is not None:
        assert {f for f in named(gone) if selection.required is None} <= set(named(after))


@given(DOCUMENT, st.one_of(st.none(), ASKED))
def test_survivors_keep_their_order_and_the_arithmetic_is_exact(lines, selection):
    found = pieces(*lines, *lines)
    result = run(found, selection)
    order = [p.id for p in found]
    assert [p.id for p in result.evidence] == sorted((p.id for p in result.evidence), key=order.index)
    for piece in result.evidence:  # inside a piece too: what is left is a subsequence of its words
        words = iter(found[order.index(piece.id)].text.split())
        assert all(word in words for word in piece.text.split())
    saved = sum(r.tokens for r in result.removals)
    assert result.tokens_before - result.tokens_after == saved + result.retokenised
    assert result.tokens_before == sum(count(p.line) for p in found)
    assert result.tokens_after == sum(count(p.line) for p in result.evidence)
    assert all(r.span_hash and r.reason for r in result.removals)
    assert run(found, selection) == result


@given(DOCUMENT)
def test_a_clean_text_stays_as_it_is(lines):
    once = run(pieces(*lines))
    twice = compress(once.evidence, extract(once.evidence), mode="lossless", extract=extract, count=count)
    assert (twice.evidence, twice.removals) == (once.evidence, ())


FOUND = pieces("Tutar 12.500,00 TL ödendi. Hava   güzeldi.", "KDV hariç kalır.", "Kuşlar öttü.")
FIELDS = extract(FOUND)


def span(piece, start, end, reason="OFF_QUESTION", kept=""):
    return Removal(piece.id, piece.start + start, piece.start + end, "select", reason, 1, kept)


@pytest.mark.parametrize(
    ("kept", "removals", "why"),
    [
        ((FOUND[0], FOUND[2]), (), "not the same multiset"),  # a piece went without a word
        ((*FOUND[:2], replace(FOUND[2], text="Kuşlar 9 TL öttü.")), (), "not the same multiset"),  # a field that was not there
        ((replace(FOUND[0], text=FOUND[0].text.replace("12.500,00", "12 500,00")), *FOUND[1:]), (), "not the same multiset"),
        ((FOUND[1], FOUND[0], FOUND[2]), (), "another order"),
        (FOUND, (span(FOUND[0], 0, 9),), "cut inside"),  # inside the amount
        (FOUND, (span(FOUND[2], 0, 3),), "cut inside"),  # inside a word
        ((FOUND[0], FOUND[2]), (span(FOUND[1], 0, 16),), "required field of E2"),
        ((FOUND[0], FOUND[1]), (span(FOUND[2], 0, 12, "DUP_SPAN", "E1"),), "not a copy"),
        ((FOUND[0], FOUND[1]), (span(FOUND[2], 0, 12, "DUP_SPAN", "E9"),), "removed as well"),
    ],
)  # fmt: skip
def test_the_proof_finds_a_planted_fault(kept, removals, why):
    assert why in broken(FOUND, FIELDS, kept, extract(kept), removals, lambda field: True)


def test_the_proof_lets_a_right_removal_pass():
    assert (
        broken(FOUND, FIELDS, FOUND[:2], extract(FOUND[:2]), (span(FOUND[2], 0, 12),), lambda f: True) == ""
    )


@given(DOCUMENT, st.randoms(use_true_random=False))
def test_a_reading_that_loses_a_field_is_refused_and_everything_is_sent(lines, chance: random.Random):
    found = pieces(*lines, "Tutar 12.500,00 TL")
    fields = extract(found)
    lost = chance.choice(fields)

    def forgetful(some):
        read = list(extract(some))
        return tuple(f for f in read if (f.kind, f.raw) != (lost.kind, lost.raw))

    result = run(found, extract=forgetful)
    assert (result.state, result.evidence, result.removals) == ("refused", found, ())
    assert result.tokens_before == result.tokens_after
    assert result.reasons[0] == "COMPRESSION_REFUSED"
