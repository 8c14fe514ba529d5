"""First token, time per token and gaps mean what they are called, and what was not observed is absent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.times import Chunk, per_token, rate, read, stalls
from tests.cases import case


@case("ACC-36")
def test_a_stream_whose_first_content_was_not_observed_has_no_first_token(row):
    """A pass-through stream of 8.4 s."""
    found = read([Chunk(8.4, "role", 0), Chunk(8.4, "empty", 0)], enqueued=0.0, tokens=120)
    assert (found.ttft, found.ttfo, found.tpot) == (None, None, None)
    assert found.tokens_per_second is None


@case("ACC-37")
def test_each_figure_names_where_it_was_observed(row):
    """A person sees text after 2.7 s; 12.41 s is something else."""
    seen = read([Chunk(2.7), Chunk(12.41)], enqueued=0.0, boundary="client")
    assert (seen.boundary, seen.ttft) == ("client", pytest.approx(2.7))
    assert read([Chunk(1.0)], enqueued=0.0).boundary == "gateway"


@case("ACC-38")
def test_a_role_and_an_empty_text_are_no_first_token(row):
    found = read([Chunk(0.12, "role", 0), Chunk(0.20, "empty", 0), Chunk(0.41)], enqueued=0.0)
    assert found.ttft == pytest.approx(0.41)


@case("ACC-38")
def test_reasoning_is_a_first_token_and_the_first_word_of_the_answer_is_told_apart(row):
    found = read([Chunk(0.30, "reasoning"), Chunk(2.10, "text")], enqueued=0.0)
    assert (found.ttft, found.ttfo) == (pytest.approx(0.30), pytest.approx(2.10))
    call = read([Chunk(0.50, "tool")], enqueued=0.1)
    assert (call.ttft, call.ttfo) == (pytest.approx(0.4), pytest.approx(0.4))
    thinking = read([Chunk(0.30, "reasoning")], enqueued=0.0)
    assert (thinking.ttft, thinking.ttfo) == (pytest.approx(0.30), None)


@case("ACC-39")
def test_five_tokens_have_four_gaps_and_the_wait_for_the_first_is_none_of_them(row):
    found = read([Chunk(at) for at in (0.5, 0.6, 0.7, 0.8, 0.9)], enqueued=0.0)
    assert found.gaps == pytest.approx((0.1, 0.1, 0.1, 0.1))
    assert found.ttft == pytest.approx(0.5)


@case("ACC-40")
def test_a_gap_between_steps_of_speculation_is_not_the_time_of_a_token(row):
    """292.29 tokens/s with gaps of 8.72 ms is 3.42 ms per token."""
    step = 0.00872
    accepted = [2 if number % 20 < 9 else 3 for number in range(2000)]  # 2.55 a step, as 292.29/s × 8.72 ms
    found = read([Chunk(step * n, "text", k) for n, k in enumerate(accepted)], enqueued=0.0)
    assert found.tokens_per_second == pytest.approx(292.29, rel=0.005)
    assert sorted(found.gaps)[len(found.gaps) // 2] == pytest.approx(0.00872)
    assert found.tpot == pytest.approx(1 / 292.29, rel=0.005)
    assert round(1000 / 292.29, 2) == 3.42
    assert {round(gap * 1000, 2) for gap in found.gaps_per_token} == {4.36, 2.91}


@case("ACC-41")
def test_time_per_token_is_over_the_tokens_after_the_first(row):
    """Chunks of 1, 3 and 3 tokens."""
    found = read([Chunk(0.50, "text", 1), Chunk(0.54, "text", 3), Chunk(0.58, "text", 3)], enqueued=0.0)
    assert found.tpot == pytest.approx(0.08 / 6)
    assert round(1000 * found.tpot, 1) == 13.3
    assert found.gaps == pytest.approx((0.04, 0.04))
    assert read([Chunk(0.50)], enqueued=0.0).tpot is None
    assert per_token(1.0, 2.0, None) is None
    assert per_token(1.0, 1.0, 5) is None  # all in one chunk: nothing was observed between tokens


@pytest.mark.parametrize(
    ("first", "last"), [(10.20, 11.10), (10.05, 10.95)], ids=["ACC-42", "ACC-42 shifted"]
)
def test_tokens_per_second_counts_fractions_of_a_second(first, last):
    assert rate(45, last - first) == pytest.approx(50.0)
    assert rate(45, 0.0) is None


def test_a_stall_is_a_gap_that_a_reader_notices():
    assert stalls([0.03, 0.03, 0.03, 0.25, 0.19]) == (0.25,)
    assert stalls([0.1, 0.1, 0.4]) == ()  # below five times the stream's own median
    assert stalls([0.1, 0.1, 0.6]) == (0.6,)
    assert stalls([]) == ()


KINDS = st.sampled_from(["role", "empty", "text", "tool", "reasoning"])


@given(st.lists(st.tuples(st.floats(0.001, 10), KINDS, st.integers(1, 8)), max_size=30))
def test_times_of_any_stream_are_consistent(steps):
    at, chunks = 0.0, []
    for gap, kind, tokens in steps:
        at += gap
        chunks.append(Chunk(at, kind, tokens))
    found = read(chunks, enqueued=0.0)
    content = [c for c in chunks if c.kind in {"text", "tool", "reasoning"}]
    assert len(found.gaps) == max(0, len(content) - 1)
    assert (found.ttft is None) == (not content)
    if found.ttfo is not None:
        assert found.ttft is not None and found.ttft <= found.ttfo
    if content:
        assert found.ttft + sum(found.gaps) == pytest.approx(content[-1].at)
    if found.tpot is not None:
        assert found.tpot * (found.tokens - 1) == pytest.approx(sum(found.gaps))
