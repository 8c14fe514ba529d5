"""What prompts share at best: exactly, by an ideal prefix tree over token ids, and from stored keyed hashes of their blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

BLOCK = 16
HASH_BYTES = 8
Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class _Node:
    ids: tuple[int, ...] = ()
    children: dict[int, _Node] = field(default_factory=dict)


class PrefixTree:
    """A radix tree over token ids that forgets nothing: one namespace, unlimited memory, no latency."""

    def __init__(self) -> None:
        self._root = _Node()

    def longest(self, ids: Sequence[int]) -> int:
        """How many leading tokens some earlier prompt also began with."""
        node, at = self._root, 0
        while at < len(ids):
            child = node.children.get(ids[at])
            if child is None:
                return at
            same = _common(child.ids, ids, at)
            at += same
            if same < len(child.ids):
                return at
            node = child
        return at

    def insert(self, ids: Sequence[int]) -> None:
        """Remember a prompt."""
        node, at = self._root, 0
        while at < len(ids):
            child = node.children.get(ids[at])
            if child is None:
                node.children[ids[at]] = _Node(tuple(ids[at:]))
                return
            same = _common(child.ids, ids, at)
            at += same
            if same < len(child.ids):
                rest = _Node(child.ids[same:], child.children)
                child.ids, child.children = child.ids[:same], {rest.ids[0]: rest}
            node = child


@dataclass(frozen=True, slots=True)
class Share:
    """Of one prompt: its tokens, and how many of them an ideal cache would have held."""

    tokens: int
    cached: int


def ceiling(prompts: Iterable[Sequence[int]], *, page: int = 1) -> list[Share]:
    """The best any prefix cache could do with these prompts in this order.

    The last token of a prompt is always computed, because the first answer token comes from it; a cache that
    keeps whole pages shares only multiples of `page`.
    """
    tree = PrefixTree()
    shares = []
    for ids in prompts:
        held = min(tree.longest(ids), max(len(ids) - 1, 0))
        shares.append(Share(len(ids), held // page * page))
        tree.insert(ids)
    return shares


def chain(ids: Sequence[int], key: bytes) -> bytes:
    """Eight bytes for each whole block of a prompt: keyed hashes of everything up to there.

    Two prompts have equal hashes up to where their blocks are equal, and nobody without the key can tell what they say.
    """
    made, before = bytearray(), b""
    for end in range(BLOCK, len(ids) + 1, BLOCK):
        block = np.asarray(ids[end - BLOCK : end], dtype=">u4").tobytes()
        before = hashlib.blake2b(before + block, key=key, digest_size=HASH_BYTES).digest()
        made += before
    return bytes(made)


def shared(chains: Sequence[bytes], tokens: Ints, salts: Sequence[Hashable] | None = None) -> Ints:
    """For each prompt, in order, how many leading tokens in whole blocks an earlier prompt of the same salt had too.

    The memory is unlimited, and the last token of a prompt is always computed. Without salts everybody shares with
    everybody. A prompt may share up to `BLOCK` - 1 tokens more than whole blocks say.
    """
    lengths = np.asarray([len(c) // HASH_BYTES for c in chains], dtype=np.int64)
    owner = np.repeat(np.arange(len(chains)), lengths)
    hashes = np.frombuffer(b"".join(chains), dtype=">u8").astype(np.uint64)
    if salts is not None:
        numbers = {salt: number for number, salt in enumerate(dict.fromkeys(salts))}
        codes = np.asarray([numbers[salt] for salt in salts], dtype=np.uint64)
        hashes ^= (codes * np.uint64(0x9E3779B97F4A7C15))[owner]
    _values, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    known = owner[first][place] < owner  # the first to have this block came before
    blocks = np.bincount(owner, weights=known, minlength=len(chains)).astype(np.int64)
    found: Ints = np.minimum(blocks, np.maximum(tokens - 1, 0) // BLOCK) * BLOCK
    return found


def at_most(blocks: Ints, tokens: Ints) -> Ints:
    """The most that may have been shared where whole blocks say `blocks` tokens; the last token is never shared."""
    return np.minimum(blocks + BLOCK - 1, np.maximum(tokens - 1, 0))


def _common(edge: tuple[int, ...], ids: Sequence[int], start: int) -> int:
    length = min(len(edge), len(ids) - start)
    for offset in range(length):
        if edge[offset] != ids[start + offset]:
            return offset
    return length
