"""The JSON between the application and the gateway: what goes in comes out, and everything else is refused with a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.errors import BadWire
from inference.slo import Band
from inference.usage import Usage
from inference.wire import (
    FRAMES,
    TERMINAL,
    VERSION,
    Aborted,
    AttemptRecord,
    Delta,
    Demoted,
    Done,
    EngineState,
    Phases,
    Queued,
    Refused,
    Restart,
    Started,
    Ticket,
    frame_from_json,
)
from tests.unit.inference.gateway.tickets import ticket

USAGE = Usage(
    uncached=3, cache_read=2, output=7, cache_write_5m=0, cache_write_1h=0, inclusive=5, estimated=("output",)
)
PHASES = Phases(gateway_queue=0.5, decode=2.0)
END = (USAGE, PHASES, 0.25, None, 1, "R", "F", "n")
EACH = [
    Queued(1, 4), Started("e", "m", "r"), Delta("ğ", 2), Restart(), Done("stop", "Günaydın", *END), Refused("queue_full", 2.5),
    Refused("too_long"), Aborted("engine_lost", True, *END),
    Demoted("predicted_miss"),
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def crossed(value):
    return json.loads(json.dumps(value.to_json()))


@pytest.mark.parametrize("frame", EACH, ids=lambda frame: type(frame).__name__)
def test_a_frame_crosses_the_socket_unchanged(frame):
    assert frame_from_json(crossed(frame)) == frame


def test_every_frame_has_its_name_and_the_last_ones_are_known():
    assert {type(frame) for frame in EACH} == set(FRAMES.values())
    assert {kind.type for kind in TERMINAL} == {"done", "refused", "demoted", "aborted"}


def test_tickets_records_and_states_cross_the_socket_unchanged():
    asked = ticket(band=Band.BATCH, deadline=3, json_schema="{}", prefix_hash="p", prefix_tokens=2)
    kept = AttemptRecord("a" * 32, "d", None, Band.STANDARD, 1.5, "abort", "client_cancelled", *END)
    state = EngineState(
        "E",
        "sglang",
        "ready",
        1.0,
        "",
        "m",
        "r",
        "cpu",
        "bytes",
        "chatml",
        queues={"batch": 2},
        counters={"done": 3},
    )
    for value in (asked, kept, state):
        assert type(value).from_json(crossed(value)) == value


@pytest.mark.parametrize("name", ["salt", "cache_salt", "rid", "priority", "model", "sampling_params"])
def test_nobody_can_send_a_salt_a_priority_or_anything_else_of_the_gateways(name):
    with pytest.raises(BadWire, match=f"unknown field {name}"):
        Ticket.from_json({**ticket().to_json(), name: "x"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attempt_id", "short"), ("attempt_id", "A" * 32), ("attempt_id", 7), ("input_ids", []), ("input_ids", ["a"]), ("input_ids", [True]),
        ("input_ids", [1.0]), ("max_out", 0), ("max_out", "9"), ("queue_ttl", 0), ("queue_ttl", 1e9), ("queue_ttl", float("nan")),
        ("queue_ttl", float("inf")), ("queue_ttl", 10**400), ("deadline", 0), ("deadline", -1), ("temperature", 2.1), ("temperature", None),
        ("band", "urgent"), ("band", []), ("band", None), ("cache", "shared"), ("prefix_tokens", 99), ("share_tokens", -1), ("pool", "other"),
        ("tenant", 5), ("ttft", 0), ("share", 0), ("on_predicted_miss", "drop"), ("key", 5),
    ],
)  # fmt: skip
def test_a_ticket_with_a_wrong_value_is_refused_and_names_the_field(field, value):
    with pytest.raises(BadWire) as refused:
        Ticket.from_json({**ticket().to_json(), field: value})
    assert refused.value.data["field"] == field.replace("share_tokens", "prefix_tokens")


@pytest.mark.parametrize("field", ["attempt_id", "decision_id", "band", "queue_ttl", "input_ids", "max_out"])
def test_a_ticket_without_what_it_needs_is_refused(field):
    raw = ticket().to_json()
    del raw[field]
    with pytest.raises(BadWire, match=f"missing field {field}"):
        Ticket.from_json(raw)


@pytest.mark.parametrize("version", [0, 1, 3, None, "2"])
def test_another_version_is_refused(version):
    with pytest.raises(BadWire, match=f"speaks {VERSION}"):
        Ticket.from_json({**ticket().to_json(), "v": version})


def test_a_field_inside_a_field_is_named_with_its_way():
    raw = crossed(Done("stop", "", *END))
    raw["usage"]["output"] = "many"
    with pytest.raises(BadWire) as refused:
        frame_from_json(raw)
    assert refused.value.data["field"] == "usage.output"


def test_counts_that_contradict_each_other_are_refused_as_a_bad_message():
    raw = crossed(Done("stop", "", *END))
    raw["usage"]["reasoning"] = 100
    with pytest.raises(BadWire, match="reasoning"):
        frame_from_json(raw)


@given(st.sampled_from(sorted(ticket().to_json())), JSON)
def test_whatever_stands_in_a_field_a_ticket_is_read_or_refused(field, value):
    try:
        made = Ticket.from_json({**ticket().to_json(), field: value})
    except BadWire:
        return
    assert Ticket.from_json(crossed(made)) == made


@given(
    JSON
    | st.builds(lambda kind: {"v": VERSION, "type": kind}, JSON | st.sampled_from(["queued", "Done", ""]))
)
def test_whatever_is_said_in_place_of_a_frame_is_refused(value):
    with pytest.raises(BadWire):
        frame_from_json(value)
