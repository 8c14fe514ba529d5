"""What holds of the partition whatever a provider says."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inference.errors import BadUsage
from inference.usage import BUCKETS, DIALECTS, Dialect, Usage, partition, settle, streamed

COUNT = st.integers(0, 10**9)
NAMES = st.sampled_from(sorted(DIALECTS))


@st.composite
def known(draw: st.DrawFn) -> tuple[Dialect, dict[str, int], dict[str, Any]]:
    """A dialect, the true buckets, and the payload that its provider would send for them."""
    row = DIALECTS[draw(NAMES)]
    uncached, output = draw(COUNT), draw(COUNT)
    read = draw(COUNT) if row.read else 0
    short = draw(COUNT) if row.write or row.write_5m else 0
    long = draw(COUNT) if row.write_1h else 0
    reasoning = draw(st.integers(0, output)) if row.reasoning else 0
    payload: dict[str, Any] = {}

    def say(paths: tuple[str, ...], value: int) -> None:
        if paths:
            payload[draw(st.sampled_from(paths))] = value

    say(row.input, uncached + (read + short + long if row.inclusive else 0))
    say(row.output, output - (reasoning if row.reasoning_apart else 0))
    say(row.read, read)
    say(row.miss, uncached)
    say(row.write, short + long)
    say(row.write_5m, short)
    say(row.write_1h, long)
    say(row.reasoning, reasoning)
    true = {"uncached": uncached, "cache_read": read, "cache_write_5m": short, "cache_write_1h": long}
    return row, {**true, "output": output}, payload


@given(known())
def test_a_whole_payload_gives_back_exactly_what_it_was_made_from(case):
    row, true, payload = case
    usage = partition(payload, row.name)
    assert {name: getattr(usage, name) for name in true} == true
    assert usage.input_total == sum(true[name] for name in BUCKETS)
    assert usage.cache_read is not None and usage.cache_read <= usage.input_total


@given(known(), st.data())
def test_what_a_payload_lacks_is_null_and_never_a_number(case, data):
    row, true, payload = case
    kept = {key: payload[key] for key in data.draw(st.sets(st.sampled_from(sorted(payload))))}
    usage = settle(kept, row.name)
    assert not usage.refused
    if not set(row.output) & set(kept):
        assert usage.output is None
    if row.read and not set(row.read) & set(kept):
        assert usage.cache_read is None
    if not set(row.input) & set(kept):
        assert usage.uncached is None and usage.inclusive is None
    for name in BUCKETS:
        found = getattr(usage, name)
        assert found is None or found <= sum(true.values())


@given(known(), st.integers(1, 10**6))
def test_reading_more_than_the_inclusive_input_is_refused(case, more):
    row, true, payload = case
    if not (row.inclusive and row.read):
        return
    payload = {key: value for key, value in payload.items() if key not in row.read + row.miss}
    payload[row.read[0]] = sum(true[name] for name in BUCKETS) + more
    usage = settle(payload, row.name)
    assert usage.refused
    assert usage == Usage(dialect=row.name, refused=usage.refused)


@given(known(), st.integers(1, 4))
def test_a_stream_that_repeats_its_usage_counts_it_once(case, times):
    row, _true, payload = case
    assert streamed([payload] * times, row.name) == partition(payload, row.name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(known(), st.data())
def test_no_payload_breaks_the_reader_it_is_a_partition_or_refused(case, data):
    row, _true, payload = case
    spoiled = {key: data.draw(JSON | st.just(value)) for key, value in payload.items()}
    try:
        usage = partition(spoiled, row.name)
    except BadUsage as refused:
        assert settle(spoiled, row.name).refused == refused.data["field"]
        return
    for name in (*BUCKETS, "output", "reasoning"):
        value = getattr(usage, name)
        assert value is None or (type(value) is int and value >= 0)
    parts = [getattr(usage, name) for name in BUCKETS]
    if None not in parts:
        assert usage.input_total == sum(parts)
