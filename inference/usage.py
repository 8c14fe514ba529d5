"""Token usage as a disjoint partition, and the dialects it is read from: the dialect decides what a field means, never its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, Literal

from inference.errors import BadUsage

BUCKETS: Final = ("uncached", "cache_read", "cache_write_5m", "cache_write_1h")
Ttl = Literal["5m", "1h"]


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
    inclusive: int | None = None  # all input tokens as reported, also where the buckets are not
    estimated: tuple[str, ...] = ()  # buckets that nobody reported as they stand here
    unsplit: bool = False  # cache writes of an unknown time to live, counted as 5 minutes
    refused: str = ""  # the field whose figure contradicted another; then nothing here is known

    def __post_init__(self) -> None:
        for name in (*BUCKETS, "output", "reasoning", "inclusive"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise BadUsage(f"{name} must be a whole number of tokens, or absent: {value!r}", field=name)
        if self.reasoning is not None and self.output is not None and self.reasoning > self.output:
            raise BadUsage("reasoning tokens are part of the output and cannot exceed it", field="reasoning")
        known = [part for name in BUCKETS if (part := getattr(self, name)) is not None]
        if self.inclusive is not None and (
            sum(known) > self.inclusive or (len(known) == len(BUCKETS) and sum(known) != self.inclusive)
        ):
            raise BadUsage(f"the buckets do not add up to the input of {self.inclusive}", field="inclusive")
        if unknown := set(self.estimated) - {*BUCKETS, "output", "reasoning"}:
            raise BadUsage(f"only buckets can be estimated: {sorted(unknown)}", field="estimated")

    @property
    def input_total(self) -> int | None:
        """All input tokens, cached ones included; None when neither the buckets nor the whole were reported."""
        parts = [getattr(self, name) for name in BUCKETS]
        return self.inclusive if any(part is None for part in parts) else sum(parts)

    @property
    def nothing(self) -> bool:
        """Whether it is known that no token was read or written."""
        return self.input_total == 0 and self.output == 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where one provider's payload keeps its counts.

    A tuple lists aliases; those that are present must agree. Dotted names are found flat or nested. `envelopes` are the
    places where the counts stand inside a whole answer or an event of a stream.
    """

    name: str
    input: tuple[str, ...]
    output: tuple[str, ...]
    inclusive: bool  # does `input` already contain the cached tokens
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()  # all writes, whatever their time to live
    write_5m: tuple[str, ...] = ()
    write_1h: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    reasoning_apart: bool = False  # reasoning is not inside `output` and is added to it
    more_input: tuple[str, ...] = ()  # input beside `input`; absent means none
    miss: tuple[str, ...] = ()  # read + miss must be the input
    unsplit: Ttl | None = (
        None  # the time to live of writes that come without a split, where the provider says so
    )
    envelopes: tuple[str, ...] = ()


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
                envelopes=("meta_info",),
            ),
            Dialect(  # also the chat endpoints of SGLang and vLLM
                name="openai",
                input=("prompt_tokens",),
                output=("completion_tokens",),
                inclusive=True,
                read=("prompt_tokens_details.cached_tokens",),
                reasoning=("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
                envelopes=("usage",),
            ),
            Dialect(  # the Responses endpoint and Codex
                name="openai_responses",
                input=("input_tokens",),
                output=("output_tokens",),
                inclusive=True,
                read=("cached_input_tokens", "input_tokens_details.cached_tokens"),
                reasoning=("reasoning_output_tokens", "output_tokens_details.reasoning_tokens"),
                envelopes=("response.usage", "usage"),
            ),
            Dialect(
                name="anthropic",
                input=("input_tokens",),
                output=("output_tokens",),
                inclusive=False,
                read=("cache_read_input_tokens",),
                write=("cache_creation_input_tokens",),
                write_5m=("cache_creation.ephemeral_5m_input_tokens",),
                write_1h=("cache_creation.ephemeral_1h_input_tokens",),
                unsplit="5m",
                envelopes=("message.usage", "usage"),
            ),
            Dialect(
                name="bedrock",
                input=("inputTokens",),
                output=("outputTokens",),
                inclusive=False,
                read=("cacheReadInputTokens", "cacheReadInputTokenCount"),
                write=("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
                envelopes=("metadata.usage", "usage"),
            ),
            Dialect(
                name="gemini",
                input=("promptTokenCount",),
                output=("candidatesTokenCount",),
                inclusive=True,
                read=("cachedContentTokenCount",),
                reasoning=("thoughtsTokenCount",),
                reasoning_apart=True,
                more_input=("toolUsePromptTokenCount",),
                envelopes=("usageMetadata",),
            ),
            Dialect(
                name="deepseek",
                input=("prompt_tokens",),
                output=("completion_tokens",),
                inclusive=True,
                read=("prompt_cache_hit_tokens",),
                reasoning=("completion_tokens_details.reasoning_tokens",),
                miss=("prompt_cache_miss_tokens",),
                envelopes=("usage",),
            ),
            Dialect(  # both styles of field at once, and an inclusive input also for models of Anthropic
                name="litellm",
                input=("prompt_tokens",),
                output=("completion_tokens",),
                inclusive=True,
                read=("cache_read_input_tokens", "prompt_tokens_details.cached_tokens"),
                write=("cache_creation_input_tokens", "prompt_tokens_details.cache_creation_tokens"),
                write_5m=("prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens",),
                write_1h=("prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens",),
                reasoning=("completion_tokens_details.reasoning_tokens",),
                envelopes=("usage",),
            ),
            Dialect(
                name="otel",
                input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
                output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
                inclusive=True,
                read=("gen_ai.usage.cache_read.input_tokens",),
                write=("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
                reasoning=("gen_ai.usage.reasoning.output_tokens",),
                envelopes=("attributes",),
            ),
            Dialect(
                name="langfuse",
                input=("input", "input_tokens"),
                output=("output", "output_tokens"),
                inclusive=False,
                read=("input_cached_tokens", "input_cache_read", "cache_read_input_tokens"),
                write=("input_cache_creation", "cache_creation_input_tokens"),
                write_5m=("input_cache_creation_5m",),
                write_1h=("input_cache_creation_1h",),
                reasoning=("output_reasoning_tokens", "output_reasoning"),
                reasoning_apart=True,
                envelopes=("usage_details", "usageDetails"),
            ),
            Dialect(
                name="openinference",
                input=("llm.token_count.prompt",),
                output=("llm.token_count.completion",),
                inclusive=True,
                read=("llm.token_count.prompt_details.cache_read", "prompt_details.cache_read"),
                write=("llm.token_count.prompt_details.cache_write", "prompt_details.cache_write"),
                reasoning=(
                    "llm.token_count.completion_details.reasoning",
                    "completion_details.reasoning",
                ),
                envelopes=("attributes",),
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class _Counts:
    """What a payload says, field by field, before it is a partition."""

    input: int | None = None
    output: int | None = None
    read: int | None = None
    write: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    reasoning: int | None = None
    more_input: int | None = None
    miss: int | None = None


def partition(payload: Mapping[str, Any], dialect: str = "sglang", *, ttl: Ttl | None = None) -> Usage:
    """The payload's counts as a partition; the payload may be the usage itself or a whole answer.

    `ttl` is the time to live that the request asked of the cache. Where the payload does not split its writes by it,
    the split is an estimate. Raises `BadUsage` when figures contradict each other.
    """
    row = _row(dialect)
    return _partition(row, _counts(row, payload), ttl)


def settle(payload: Mapping[str, Any], dialect: str = "sglang", *, ttl: Ttl | None = None) -> Usage:
    """Like `partition`, but a contradiction is a usage in the error bucket: nothing known, and the field named."""
    try:
        return partition(payload, dialect, ttl=ttl)
    except BadUsage as bad:
        return Usage(dialect=dialect, refused=str(bad.data["field"]))


def streamed(
    events: Iterable[Mapping[str, Any]], dialect: str = "sglang", *, ttl: Ttl | None = None
) -> Usage:
    """The usage of a stream, cut off or whole.

    Of the input, the first event that carries a figure is used, so that a prompt which was computed again counts once;
    the output counts upwards, so the last one is. What no event carried stays unknown.
    """
    row, seen = _row(dialect), _Counts()
    for event in events:
        counts = _counts(row, event)
        grown = {n: v for n in ("output", "reasoning") if (v := getattr(counts, n)) is not None}
        first = {f.name: getattr(counts, f.name) for f in fields(_Counts) if getattr(seen, f.name) is None}
        seen = replace(seen, **{**first, **grown})
    return _partition(row, seen, ttl)


def with_seen(usage: Usage, tokens: int) -> Usage:
    """Fill an output that nobody reported with the tokens that arrived, as an estimate. A reported 0 stays 0."""
    if usage.output is not None or usage.refused:
        return usage
    return replace(usage, output=tokens, estimated=(*usage.estimated, "output"))


def _row(dialect: str) -> Dialect:
    row = DIALECTS.get(dialect)
    if row is None:
        raise BadUsage(f"unknown usage dialect {dialect!r}", field="dialect")
    return row


def _partition(row: Dialect, counts: _Counts, ttl: Ttl | None) -> Usage:
    total, read = counts.input, counts.read if row.read else 0
    if total is not None:
        total += counts.more_input or 0
    if counts.miss is not None and None not in (total, read) and counts.miss + (read or 0) != total:
        raise BadUsage(f"read {read} and missed {counts.miss} are not the input {total}", field=row.miss[0])
    write_5m, write_1h, estimated, unsplit = _writes(row, counts, ttl)
    cached = [part for part in (read, write_5m, write_1h) if part is not None]
    uncached, inclusive = total, None
    if row.inclusive and total is not None:
        if sum(cached) > total:
            raise BadUsage(
                f"cached tokens {sum(cached)} exceed the inclusive input {total}", field=row.read[0]
            )
        uncached, inclusive = (total - sum(cached) if len(cached) == 3 else None), total
    output = counts.output
    if row.reasoning_apart and output is not None:
        output += counts.reasoning or 0
    return Usage(
        uncached=uncached,
        cache_read=read,
        output=output,
        cache_write_5m=write_5m,
        cache_write_1h=write_1h,
        reasoning=counts.reasoning,
        dialect=row.name,
        inclusive=inclusive,
        estimated=estimated,
        unsplit=unsplit,
    )


def _writes(
    row: Dialect, counts: _Counts, ttl: Ttl | None
) -> tuple[int | None, int | None, tuple[str, ...], bool]:
    """Cache writes of 5 minutes and of 1 hour, what is estimated of them, and whether the split is unknown."""
    if not (row.write or row.write_5m or row.write_1h):
        return 0, 0, (), False
    total, short, long = counts.write, counts.write_5m, counts.write_1h
    if short is not None or long is not None:
        if total is None:
            return short, long, (), False
        short = total - (long or 0) if short is None else short
        long = total - short if long is None else long
        if min(short, long) < 0 or short + long != total:
            raise BadUsage(f"writes of {short} and {long} are not the total {total}", field=row.write[0])
        return short, long, (), False
    if total is None:
        return None, None, (), False
    asked = row.unsplit or ttl
    if total == 0 or row.unsplit:
        return (0, total, (), False) if asked == "1h" else (total, 0, (), False)
    if asked == "1h":
        return 0, total, ("cache_write_1h",), False
    return total, 0, ("cache_write_5m",), asked is None


def _counts(row: Dialect, payload: Mapping[str, Any]) -> _Counts:
    inside = [payload]
    for envelope in row.envelopes:
        found = _find(payload, envelope.split("."))
        if isinstance(found, Mapping):
            inside.insert(0, found)
    for place in inside:
        counts = _Counts(**{f.name: _count(place, getattr(row, f.name)) for f in fields(_Counts)})
        if counts != _Counts():
            return counts
    return _Counts()


def _count(place: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    """The figure under these aliases; those that are present must be the same."""
    said: int | None = None
    for path in paths:
        value = _find(place, path.split("."))
        if value is None:
            continue
        if type(value) is not int or value < 0:
            raise BadUsage(f"{path} is not a token count: {value!r}", field=path)
        if said is not None and said != value:
            raise BadUsage(f"{path} says {value}, another name of it {said}", field=path)
        said = value
    return said


def _find(place: Any, parts: list[str]) -> Any:
    """What stands under a dotted name, whether its dots are levels or part of a key."""
    if not parts:
        return place
    if not isinstance(place, Mapping):
        return None
    for length in range(len(parts), 0, -1):
        key = ".".join(parts[:length])
        if key in place:
            return _find(place[key], parts[length:])
    return None
