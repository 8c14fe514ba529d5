"""Which engine gets a request: the home of its prefix, unless that one has fallen too far behind. Pure."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

GAP = 0.25  # of an engine's slots: so many requests more than the least busy one may a home hold
OUTPUT_COST = 2.0  # a token that is written, in tokens that are read

Key = tuple[str, str]  # salt id and prefix hash: whose computed tokens these are


@dataclass(frozen=True, slots=True)
class Load:
    """One engine that may take the request: predicted work inside it, in tokens read, and whether a place is free."""

    name: str
    work: float
    slots: int
    full: bool = False


def home(key: Key, names: Sequence[str]) -> str:
    """The engine of a prefix, by rendezvous hashing: one that joins or leaves moves its own prefixes and no others."""
    return max(names, key=lambda name: (_weight(key, name), name))


def choose(key: Key | None, loads: Sequence[Load], *, own: float, patient: bool) -> str:
    """The engine for a request of so much work (`own`), among at least one.

    A request that shares nothing goes where the least work is. One that shares goes home, unless home holds more work than the
    least busy engine by a quarter of its slots filled with such requests. A person is not kept waiting for a cache: a request
    that is not `patient` takes any free place while home has none.
    """
    least = min(loads, key=lambda load: (load.full, load.work, load.name))
    if key is None or len(loads) == 1:
        return least.name
    name = home(key, [load.name for load in loads])
    at_home = next(load for load in loads if load.name == name)
    if least.full:
        return name
    crowded = at_home.work - least.work > GAP * at_home.slots * own
    return least.name if crowded or (at_home.full and not patient) else name


@functools.lru_cache(maxsize=100_000)
def _weight(key: Key, name: str) -> int:
    parts = (*key, name)
    message = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    return int.from_bytes(hashlib.blake2b(message, digest_size=8).digest(), "big")
