"""The ideal prefix tree agrees with the definition it stands for, and stored hashes agree with the tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics.prefixes import BLOCK, HASH_BYTES, PrefixTree, Share, at_most, ceiling, chain, shared

PROMPTS = st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=20)
KEY = b"a key of thirty-two bytes, or so"


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


# Long prompts with few distinct tokens and stems, so that many share several blocks.
LONG = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 90), st.integers(0, 40), st.integers(0, 3)), max_size=15
)


def spelled(stem: int, shared_part: int, own: int, mark: int) -> list[int]:
    return [stem] * shared_part + [100 + mark] * own


@given(LONG)
def test_hashed_blocks_share_what_the_tree_shares_in_whole_blocks(cases: list[tuple[int, ...]]) -> None:
    prompts = [spelled(*case) for case in cases]
    tokens = np.array([len(ids) for ids in prompts], dtype=np.int64)
    blocks = shared([chain(ids, KEY) for ids in prompts], tokens)
    exact = ceiling(prompts)
    assert [int(b) for b in blocks] == [share.cached // BLOCK * BLOCK for share in exact]
    most = at_most(blocks, tokens)
    for low, share, high in zip(blocks, exact, most, strict=True):
        assert low <= share.cached <= high


@given(LONG, st.data())
def test_salts_only_ever_take_sharing_away(cases: list[tuple[int, ...]], data: st.DataObject) -> None:
    prompts = [spelled(*case) for case in cases]
    salts = [data.draw(st.sampled_from("abc")) for _ in prompts]
    chains = [chain(ids, KEY) for ids in prompts]
    tokens = np.array([len(ids) for ids in prompts], dtype=np.int64)
    kept, free = shared(chains, tokens, salts), shared(chains, tokens)
    assert all(k <= f for k, f in zip(kept, free, strict=True))
    for salt in set(salts):
        own = np.array([s == salt for s in salts])
        alone = shared([c for c, mine in zip(chains, own, strict=True) if mine], tokens[own])
        assert list(alone) == [k for k, s in zip(kept, salts, strict=True) if s == salt]
    assert list(shared(chains, tokens, ["x"] * len(chains))) == list(free)


def test_the_last_token_of_a_prompt_is_computed_and_still_there_for_others() -> None:
    prompts = [list(range(16)), list(range(16)), list(range(17))]
    tokens = np.array([16, 16, 17])
    assert list(shared([chain(ids, KEY) for ids in prompts], tokens)) == [0, 0, 16]
    assert [share.cached // BLOCK * BLOCK for share in ceiling(prompts)] == [0, 0, 16]


def test_a_chain_hides_the_prompt() -> None:
    ids = list(range(64))
    assert len(chain(ids, KEY)) == 4 * HASH_BYTES
    assert len(chain(ids[:15], KEY)) == 0 and len(chain(ids[:31], KEY)) == HASH_BYTES
    assert chain([], KEY) == b""
    assert chain(ids, KEY) != chain(ids, b"another key")
    assert chain(ids, KEY)[:16] == chain([*ids[:40], 7, 7], KEY)[:16]
    assert chain([1, *ids], KEY)[:8] != chain(ids, KEY)[:8]
