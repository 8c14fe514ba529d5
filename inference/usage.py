"""Token usage as a disjoint partition, and the dialects it is read from: the dialect decides what a field means, never its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from inference.errors import BadUsage

BUCKETS: Final = ("uncached", "cache_read", "cache_write_5m", "cache_write_1h")


@dataclass(frozen=True, slots=True)
class Usage:
    """Input split into disjoint buckets, and output. `None` means not reported; it is never filled with 0."""

    uncached: int | None = None
    cache_read: int | None = None
    output: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    reasoning: int | None = None  # part of output
    dialect: str = "sglang"

    def __post_init__(self) -> None:
        for name in (*BUCKETS, "output", "reasoning"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise BadUsage(f"{name} must be a whole number of tokens, or absent: {value!r}", field=name)
        if self.reasoning is not None and self.output is not None and self.reasoning > self.output:
            raise BadUsage("reasoning tokens are part of the output and cannot exceed it", field="reasoning")

    @property
    def input_total(self) -> int | None:
        """All input tokens, cached ones included; None when a bucket is unknown."""
        parts = [getattr(self, name) for name in BUCKETS]
        return None if any(part is None for part in parts) else sum(parts)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where one provider's payload keeps its counts. Paths are dotted; a tuple lists aliases, first present wins."""

    name: str
    input: tuple[str, ...]
    output: tuple[str, ...]
    inclusive: bool  # does `input` already contain the cached tokens
    read: tuple[str, ...] = ()
    write_5m: tuple[str, ...] = ()
    write_1h: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()


# A dialect is one row here and one golden payload in the tests. A bucket without a path does not exist there and is 0.
DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        row.name: row
        for row in (
            Dialect(
                name="sglang",
                input=("prompt_tokens",),
                output=("completion_tokens",),
                inclusive=True,
                read=("cached_tokens",),
                reasoning=("reasoning_tokens",),
            ),
        )
    }
)


def partition(payload: Mapping[str, Any], dialect: str = "sglang") -> Usage:
    """The payload's counts as a partition. Raises `BadUsage` when they contradict each other."""
    row = DIALECTS.get(dialect)
    if row is None:
        raise BadUsage(f"unknown usage dialect {dialect!r}", field="dialect")
    total = _count(payload, row.input)
    read, write_5m, write_1h = (_bucket(payload, paths) for paths in (row.read, row.write_5m, row.write_1h))
    uncached = total
    if row.inclusive and total is not None:
        known = [part for part in (read, write_5m, write_1h) if part is not None]
        if sum(known) > total:
            raise BadUsage(
                f"cached tokens {sum(known)} exceed the inclusive input {total}", field=row.read[0]
            )
        uncached = total - sum(known) if len(known) == 3 else None
    return Usage(
        uncached=uncached,
        cache_read=read,
        output=_count(payload, row.output),
        cache_write_5m=write_5m,
        cache_write_1h=write_1h,
        reasoning=_count(payload, row.reasoning),
        dialect=dialect,
    )


def _bucket(payload: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    return _count(payload, paths) if paths else 0


def _count(payload: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    for path in paths:
        value: Any = payload
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            if type(value) is not int or value < 0:
                raise BadUsage(f"{path} is not a token count: {value!r}", field=path)
            return value
    return None
