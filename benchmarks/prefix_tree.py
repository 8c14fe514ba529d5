"""The ideal prefix tree: how many tokens of each prompt could have been shared with any earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


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


def _common(edge: tuple[int, ...], ids: Sequence[int], start: int) -> int:
    length = min(len(edge), len(ids) - start)
    for offset in range(length):
        if edge[offset] != ids[start + offset]:
            return offset
    return length
