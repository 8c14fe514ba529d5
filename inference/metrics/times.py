"""Times of one stream: first token, first output, time per token, gaps and stalls. Each figure names where it was observed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Boundary = Literal["client", "gateway", "engine"]
ChunkKind = Literal["role", "empty", "text", "tool", "reasoning"]
CONTENT = frozenset({"text", "tool", "reasoning"})
STALL_SECONDS, STALL_TIMES_MEDIAN = 0.2, 5


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event of a stream: when it came, what it holds, and how many tokens that is."""

    at: float
    kind: ChunkKind = "text"
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds, observed at one boundary. None is "not observed"; it is never the whole duration in its place."""

    boundary: Boundary
    ttft: float | None  # to the first content of any kind
    ttfo: float | None  # to the first content that is not reasoning
    tpot: float | None  # per token after the first
    gaps: tuple[float, ...]  # between chunks; the wait for the first is not among them
    gaps_per_token: tuple[float, ...]  # each gap over the tokens that ended it
    stalls: tuple[float, ...]
    tokens: int
    tokens_per_second: float | None


def read(
    chunks: Sequence[Chunk], *, enqueued: float, boundary: Boundary = "gateway", tokens: int | None = None
) -> Times:
    """The times of a stream from its chunks, all on one clock. `tokens` is the reported output where it is known."""
    content = [chunk for chunk in chunks if chunk.kind in CONTENT]
    said = next((chunk.at for chunk in content if chunk.kind != "reasoning"), None)
    gaps = tuple(later.at - earlier.at for earlier, later in pairwise(content))
    out = sum(chunk.tokens for chunk in content) if tokens is None else tokens
    first, last = (content[0].at, content[-1].at) if content else (None, None)
    return Times(
        boundary=boundary,
        ttft=None if first is None else first - enqueued,
        ttfo=None if said is None else said - enqueued,
        tpot=per_token(first, last, out),
        gaps=gaps,
        gaps_per_token=tuple(
            gap / chunk.tokens for gap, chunk in zip(gaps, content[1:], strict=True) if chunk.tokens
        ),
        stalls=stalls(gaps),
        tokens=out,
        tokens_per_second=None if first is None or last is None else rate(out, last - first),
    )


def per_token(first: float | None, last: float | None, tokens: int | None) -> float | None:
    """Seconds per token after the first one; None where fewer than two tokens, or no time between them, were observed."""
    if first is None or last is None or tokens is None or tokens < 2 or last <= first:
        return None
    return (last - first) / (tokens - 1)


def rate(tokens: int, seconds: float) -> float | None:
    """Tokens per second of a duration, fractions of a second included; None where nothing passed."""
    return tokens / seconds if seconds > 0 else None


def stalls(gaps: Sequence[float]) -> tuple[float, ...]:
    """Gaps in which a reader notices that nothing comes: over 0.2 s and over five times the stream's own median."""
    if not gaps:
        return ()
    limit = max(STALL_SECONDS, STALL_TIMES_MEDIAN * statistics.median(gaps))
    return tuple(gap for gap in gaps if gap > limit)
