"""Every dialect gives the same disjoint partition; what is missing stays missing, and what contradicts itself is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from inference.errors import BadUsage
from inference.usage import DIALECTS, Usage, partition, settle, streamed, with_seen
from inference.wire import Done, Phases, frame_from_json
from tests.cases import case

# id, dialect, payload, (uncached, read, write 5 min, write 1 h, output, reasoning), inclusive input
GOLDEN: list[tuple[str, str, dict[str, Any], tuple[int | None, ...], int | None]] = [
    (
        "ACC-01 openai",
        "openai",
        {
            "prompt_tokens": 17903,
            "prompt_tokens_details": {"cached_tokens": 17817},
            "completion_tokens": 40,
        },
        (86, 17817, 0, 0, 40, None),
        17903,
    ),
    (
        "ACC-02 codex",
        "openai_responses",
        {"input_tokens": 117231, "cached_input_tokens": 115584, "output_tokens": 225},
        (1647, 115584, 0, 0, 225, None),
        117231,
    ),
    (
        "ACC-02 responses",
        "openai_responses",
        {
            "response": {
                "usage": {
                    "input_tokens": 117231,
                    "input_tokens_details": {"cached_tokens": 115584},
                    "output_tokens": 225,
                    "output_tokens_details": {"reasoning_tokens": 128},
                }
            }
        },
        (1647, 115584, 0, 0, 225, 128),
        117231,
    ),
    (
        "ACC-03 anthropic, one write",
        "anthropic",
        {
            "input_tokens": 3,
            "cache_creation_input_tokens": 12304,
            "cache_read_input_tokens": 0,
            "output_tokens": 550,
        },
        (3, 0, 12304, 0, 550, None),
        12307,
    ),
    (
        "ACC-04 anthropic, split write",
        "anthropic",
        {
            "input_tokens": 20,
            "cache_read_input_tokens": 4000,
            "cache_creation_input_tokens": 1500,
            "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 500},
            "output_tokens": 200,
        },
        (20, 4000, 1000, 500, 200, None),
        5520,
    ),
    (
        "ACC-05 bedrock",
        "bedrock",
        {"inputTokens": 300, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 600, "outputTokens": 75},
        (300, 900, 600, 0, 75, None),
        1800,
    ),
    (
        "ACC-06 deepseek",
        "deepseek",
        {
            "prompt_tokens": 5000,
            "prompt_cache_hit_tokens": 4096,
            "prompt_cache_miss_tokens": 904,
            "completion_tokens": 7,
        },
        (904, 4096, 0, 0, 7, None),
        5000,
    ),
    (
        "ACC-07 gemini",
        "gemini",
        {
            "promptTokenCount": 2500,
            "cachedContentTokenCount": 2048,
            "candidatesTokenCount": 120,
            "thoughtsTokenCount": 300,
        },
        (452, 2048, 0, 0, 420, 300),
        2500,
    ),
    (
        "ACC-07 gemini with the results of a tool",
        "gemini",
        {
            "usageMetadata": {
                "promptTokenCount": 12,
                "toolUsePromptTokenCount": 65,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 71,
                "thoughtsTokenCount": 89,
            }
        },
        (73, 4, 0, 0, 160, 89),
        77,
    ),
    (
        "ACC-08 litellm, both styles at once",
        "litellm",
        {
            "prompt_tokens": 1000,
            "cache_creation_input_tokens": 700,
            "cache_read_input_tokens": 200,
            "prompt_tokens_details": {"cached_tokens": 200},
            "completion_tokens": 5,
        },
        (100, 200, 700, 0, 5, None),
        1000,
    ),
    (
        "ACC-09 otel, cache_write",
        "otel",
        {
            "gen_ai.usage.input_tokens": 800,
            "gen_ai.usage.cache_read.input_tokens": 500,
            "gen_ai.usage.cache_write.input_tokens": 100,
            "gen_ai.usage.output_tokens": 60,
        },
        (200, 500, 100, 0, 60, None),
        800,
    ),
    (
        "ACC-09 otel, cache_creation",
        "otel",
        {
            "attributes": {
                "gen_ai.usage.input_tokens": 800,
                "gen_ai.usage.cache_read.input_tokens": 500,
                "gen_ai.usage.cache_creation.input_tokens": 100,
                "gen_ai.usage.output_tokens": 60,
            }
        },
        (200, 500, 100, 0, 60, None),
        800,
    ),
    (
        "ACC-10 langfuse",
        "langfuse",
        {
            "usage_details": {
                "input": 200,
                "input_cached_tokens": 500,
                "input_cache_creation": 100,
                "output": 60,
            }
        },
        (200, 500, 100, 0, 60, None),
        800,
    ),
    (
        "ACC-11 openinference",
        "openinference",
        {
            "llm.token_count.prompt": 800,
            "prompt_details.cache_read": 500,
            "prompt_details.cache_write": 100,
            "llm.token_count.completion": 60,
        },
        (200, 500, 100, 0, 60, None),
        800,
    ),
    (
        "ACC-11 openinference, full names",
        "openinference",
        {
            "llm.token_count.prompt": 800,
            "llm.token_count.prompt_details.cache_read": 500,
            "llm.token_count.prompt_details.cache_write": 100,
            "llm.token_count.completion": 60,
        },
        (200, 500, 100, 0, 60, None),
        800,
    ),
    (
        "ACC-01 sglang generate",
        "sglang",
        {"meta_info": {"prompt_tokens": 1740, "cached_tokens": 1536, "completion_tokens": 96}},
        (204, 1536, 0, 0, 96, None),
        1740,
    ),
]


@pytest.mark.parametrize(
    ("dialect", "payload", "buckets", "total"), [row[1:] for row in GOLDEN], ids=[row[0] for row in GOLDEN]
)
def test_a_payload_becomes_one_partition(dialect, payload, buckets, total):
    usage = partition(payload, dialect)
    found = (
        usage.uncached,
        usage.cache_read,
        usage.cache_write_5m,
        usage.cache_write_1h,
        usage.output,
        usage.reasoning,
    )
    assert found == buckets
    assert usage.input_total == total
    assert usage.dialect == dialect


def test_every_dialect_has_a_golden_payload():
    assert {row[1] for row in GOLDEN} == set(DIALECTS)


@case("ACC-09")
@pytest.mark.parametrize(("dialect", "payload"), [row[1:3] for row in GOLDEN], ids=[row[0] for row in GOLDEN])
def test_every_alias_gives_the_same_partition_flat_nested_or_inside_an_answer(dialect, payload, row):
    """The names of one field are one field, wherever its dots are and however the counts are wrapped."""
    row = DIALECTS[dialect]
    inner = payload
    for envelope in row.envelopes:
        for part in envelope.split("."):
            if isinstance(inner, dict) and part in inner:
                inner = inner[part]
    expected = partition(payload, dialect)
    wrapped: Any = inner
    for envelope in row.envelopes:
        wrapped = inner
        for part in reversed(envelope.split(".")):
            wrapped = {part: wrapped}
        assert partition(wrapped, dialect) == expected
    assert partition(_nested(inner), dialect) == expected


@case("ACC-02")
def test_the_dialect_decides_what_input_tokens_means(row):
    """The same names are inclusive in one dialect and exclusive in another."""
    body = {"input_tokens": 100, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0}
    assert partition(body, "anthropic").input_total == 140
    assert partition({"input_tokens": 100, "cached_input_tokens": 40}, "openai_responses").input_total == 100
    with pytest.raises(BadUsage, match="unknown usage dialect"):
        partition(body, "none of these")


@case("ACC-05")
def test_a_write_without_a_split_is_counted_by_what_is_known_of_its_time_to_live(row):
    """Asked for, it is an estimate of that class; unknown, it counts as 5 minutes and says so."""
    body = {"inputTokens": 300, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 600, "outputTokens": 75}
    asked = partition(body, "bedrock", ttl="1h")
    assert (asked.cache_write_5m, asked.cache_write_1h, asked.estimated, asked.unsplit) == (
        0,
        600,
        ("cache_write_1h",),
        False,
    )
    short = partition(body, "bedrock", ttl="5m")
    assert (short.cache_write_5m, short.estimated, short.unsplit) == (600, ("cache_write_5m",), False)
    unknown = partition(body, "bedrock")
    assert (unknown.cache_write_5m, unknown.estimated, unknown.unsplit) == (600, ("cache_write_5m",), True)
    nothing_written = partition({**body, "cacheWriteInputTokens": 0}, "bedrock")
    assert (nothing_written.cache_write_5m, nothing_written.cache_write_1h) == (0, 0)
    assert (nothing_written.estimated, nothing_written.unsplit) == ((), False)


@case("ACC-04")
def test_a_split_that_is_half_given_is_completed_from_the_total_and_never_added_to_it(row):
    body = {
        "input_tokens": 20,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 1500,
        "cache_creation": {"ephemeral_1h_input_tokens": 500},
    }
    usage = partition(body, "anthropic")
    assert (usage.cache_write_5m, usage.cache_write_1h, usage.input_total) == (1000, 500, 1520)


@pytest.mark.parametrize(
    ("dialect", "payload", "field"),
    [
        pytest.param(
            "deepseek",
            {"prompt_tokens": 5000, "prompt_cache_hit_tokens": 4096, "prompt_cache_miss_tokens": 900},
            "prompt_cache_miss_tokens",
            id="ACC-06 hit and miss are not the prompt",
        ),
        pytest.param(
            "sglang",
            {"prompt_tokens": 59946, "cached_tokens": 122884, "completion_tokens": 1},
            "cached_tokens",
            id="ACC-15 read more than the prompt after a retraction",
        ),
        pytest.param(
            "litellm",
            {
                "prompt_tokens": 1000,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 200,
                "prompt_tokens_details": {"cached_tokens": 100},
            },
            "prompt_tokens_details.cached_tokens",
            id="ACC-08 two names of one field disagree",
        ),
        pytest.param(
            "otel",
            {
                "gen_ai.usage.input_tokens": 800,
                "gen_ai.usage.cache_write.input_tokens": 100,
                "gen_ai.usage.cache_creation.input_tokens": 90,
            },
            "gen_ai.usage.cache_creation.input_tokens",
            id="ACC-09 old and new name disagree",
        ),
        pytest.param(
            "anthropic",
            {
                "input_tokens": 20,
                "cache_creation_input_tokens": 1500,
                "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 600},
            },
            "cache_creation_input_tokens",
            id="ACC-04 the parts are not the total",
        ),
        pytest.param("openai", {"prompt_tokens": -1}, "prompt_tokens", id="a count below zero"),
        pytest.param("openai", {"prompt_tokens": True}, "prompt_tokens", id="a truth value"),
        pytest.param("openai", {"prompt_tokens": 5.0}, "prompt_tokens", id="a broken number"),
        pytest.param(
            "openai",
            {
                "prompt_tokens": 5,
                "completion_tokens": 3,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            "reasoning",
            id="more reasoning than output",
        ),
    ],
)
def test_a_record_that_contradicts_itself_goes_into_the_error_bucket(dialect, payload, field):
    with pytest.raises(BadUsage) as refused:
        partition(payload, dialect)
    assert refused.value.data["field"] == field
    usage = settle(payload, dialect)
    assert usage.refused == field
    assert (usage.input_total, usage.cache_read, usage.output) == (None, None, None)


@case("ACC-14")
def test_an_absent_figure_is_null_and_what_was_seen_is_kept(row):
    """Without the engine's cache report nothing is known of reads, but the whole prompt still is."""
    usage = partition({"prompt_tokens": 1000, "completion_tokens": 20}, "openai")
    assert (usage.uncached, usage.cache_read, usage.output) == (None, None, 20)
    assert usage.input_total == usage.inclusive == 1000
    assert partition({"input_tokens": 3, "output_tokens": 1}, "anthropic").input_total is None
    assert partition({}, "sglang") == Usage(cache_write_5m=0, cache_write_1h=0)


@case("ACC-13")
def test_an_explicit_zero_stays_zero_and_only_an_absent_output_is_estimated(row):
    zero = partition({"prompt_tokens": 5, "cached_tokens": 0, "completion_tokens": 0})
    assert (zero.cache_read, zero.output, zero.estimated) == (0, 0, ())
    assert with_seen(zero, 7) == zero
    absent = with_seen(partition({"prompt_tokens": 5, "cached_tokens": 0}), 7)
    assert (absent.output, absent.estimated) == (7, ("output",))
    refused = settle({"prompt_tokens": 1, "cached_tokens": 2})
    assert with_seen(refused, 7) == refused


OPENAI_STREAM = [
    {"choices": [{"delta": {"content": "a"}}], "usage": None},
    {"choices": [{"delta": {"content": "b"}}], "usage": {"prompt_tokens": 10000, "completion_tokens": 1}},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 10000,
            "completion_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 8960},
        },
    },
]


@case("ACC-12")
def test_a_stream_that_is_left_early_reports_no_read_instead_of_none(row):
    """What was seen is stored; the figure that came too late is null, and the whole stream has it."""
    left = streamed(OPENAI_STREAM[:2], "openai")
    assert (left.cache_read, left.uncached, left.inclusive, left.output) == (None, None, 10000, 1)
    nothing = streamed(OPENAI_STREAM[:1], "openai")
    assert (nothing.cache_read, nothing.input_total, nothing.output) == (None, None, None)
    whole = streamed(OPENAI_STREAM, "openai")
    assert (whole.uncached, whole.cache_read, whole.output) == (1040, 8960, 12)
    assert whole == partition(OPENAI_STREAM[-1], "openai")


@case("ACC-12", "ACC-15")
def test_of_the_input_the_first_figure_counts_and_of_the_output_the_last(row):
    """A prompt that was computed again after a retraction counts once."""
    events = [
        {"meta_info": {"prompt_tokens": 100, "cached_tokens": 10, "completion_tokens": 1}},
        {"meta_info": {"prompt_tokens": 100, "cached_tokens": 99, "completion_tokens": 9}},
    ]
    usage = streamed(events)
    assert (usage.cache_read, usage.uncached, usage.output) == (10, 90, 9)
    anthropic = [
        {
            "type": "message_start",
            "message": {
                "usage": {
                    "input_tokens": 3,
                    "cache_read_input_tokens": 0,
                    "cache_creation_input_tokens": 12304,
                    "output_tokens": 1,
                }
            },
        },
        {"type": "content_block_delta", "delta": {"text": "x"}},
        {"type": "message_delta", "usage": {"output_tokens": 550}},
    ]
    usage = streamed(anthropic, "anthropic")
    assert (usage.uncached, usage.cache_write_5m, usage.output) == (3, 12304, 550)


def test_usage_crosses_the_socket_unchanged():
    usage = replace(
        partition({"inputTokens": 3, "cacheReadInputTokens": 0, "cacheWriteInputTokens": 6}, "bedrock"),
        output=None,
    )
    done = Done("stop", "", usage, Phases(), None, None, 0, "r", "f", "s")
    assert frame_from_json(done.to_json()) == done
    assert settle({"prompt_tokens": 1, "cached_tokens": 2}).refused == "cached_tokens"


def test_the_invariants_hold_for_a_usage_that_is_written_by_hand():
    for wrong in (
        {"uncached": -1},
        {"output": 1.5},
        {"reasoning": 2, "output": 1},
        {"uncached": 5, "inclusive": 4},
        {"uncached": 1, "cache_read": 1, "cache_write_5m": 0, "cache_write_1h": 0, "inclusive": 3},
        {"estimated": ("money",)},
    ):
        with pytest.raises(BadUsage):
            Usage(**wrong)


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """The same counts with every dot as a level."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        place = found
        *levels, last = key.split(".")
        for level in levels:
            place = place.setdefault(level, {})
        place[last] = value
    return found
