"""The ideal prefix tree agrees with the definition it stands for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.prefix_tree import PrefixTree, Share, ceiling

PROMPTS = st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=20)


def common(a: list[int], b: list[int]) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


@given(PROMPTS)
def test_the_share_is_the_longest_common_prefix_with_any_earlier_prompt(prompts: list[list[int]]) -> None:
    expected = []
    for place, prompt in enumerate(prompts):
        longest = max((common(prompt, earlier) for earlier in prompts[:place]), default=0)
        expected.append(Share(len(prompt), min(longest, max(len(prompt) - 1, 0))))
    assert ceiling(prompts) == expected


@given(PROMPTS, st.integers(2, 4))
def test_a_paged_cache_shares_whole_pages_only(prompts: list[list[int]], page: int) -> None:
    for whole, paged in zip(ceiling(prompts), ceiling(prompts, page=page), strict=True):
        assert paged.cached % page == 0
        assert 0 <= whole.cached - paged.cached < page


def test_rubric_and_document_are_shared_when_the_question_comes_last() -> None:
    rubric, questions = list(range(100)), [[900 + q] * 10 for q in range(3)]
    documents = [[200 + d] * 50 for d in range(4)]
    last = ceiling(rubric + d + q for d in documents for q in questions)
    assert [share.cached for share in last] == [0, 150, 150, *([100, 150, 150] * 3)]
    first = ceiling(q + d + rubric for d in documents for q in questions)
    assert sum(share.cached for share in first) == 9 * 10


def test_an_empty_tree_holds_nothing_and_a_repeated_prompt_all_but_its_last_token() -> None:
    assert PrefixTree().longest([1, 2]) == 0
    assert ceiling([[1, 2, 3], [1, 2, 3]])[1] == Share(3, 2)
