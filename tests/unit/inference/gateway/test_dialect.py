"""What is sent to SGLang, and what its stream means."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from inference.gateway.dialect import Chunk, EngineLost, read, request_body, stream
from inference.gateway.queue import Waiting
from inference.gateway.salt import salt_of
from inference.slo import Band
from tests.unit.inference.gateway.engine import DictatedEngine, until
from tests.unit.inference.gateway.tickets import ticket


def waiting(**changes):
    made = ticket("Hi", **changes)
    return Waiting(made, salt_of(b"k" * 32, made), 0.0, 1.0)


def test_the_engine_gets_a_closed_list_of_fields_and_explicit_sampling():
    asked = waiting(max_out=9, temperature=0.5, json_schema='{"type":"string"}')
    assert request_body(asked, "rid") == {
        "rid": "rid",
        "input_ids": [75, 108],
        "cache_salt": asked.salt.value,
        "priority": 20,
        "stream": True,
        "sampling_params": {
            "max_new_tokens": 9,
            "temperature": 0.5,
            "top_p": 1,
            "stop_token_ids": [2],
            "json_schema": '{"type":"string"}',
        },
    }
    assert "json_schema" not in request_body(waiting(), "rid")["sampling_params"]


def test_only_batch_can_be_pushed_out_of_the_engine():
    given = {band: request_body(waiting(band=band), "r")["priority"] for band in Band}
    assert given[Band.INTERACTIVE] - given[Band.BATCH] > 10
    assert given[Band.STANDARD] - given[Band.BATCH] > 10
    assert given[Band.INTERACTIVE] - given[Band.STANDARD] <= 10


@pytest.mark.parametrize(
    ("reason", "finish", "cause"),
    [
        ({"type": "stop", "matched": 2}, "stop", ""),
        ({"type": "length", "length": 4}, "length", ""),
        ({"type": "abort", "message": "The request queue is full.", "status_code": 503}, "abort", "queue_full"),
        ({"type": "abort", "message": "The request is aborted by a higher priority request.", "status_code": 503}, "abort", "preempted"),
        ({"type": "abort", "message": "Request waiting timeout reached.", "status_code": 503}, "abort", "timeout"),
        ({"type": "abort", "message": "Aborted"}, "abort", "cancelled"),
        ({"type": "abort", "message": "Failed to compile json grammar", "status_code": 400}, "abort", "bad_request"),
        ({"type": "abort", "message": "something new", "status_code": 500}, "abort", "engine_lost"),
    ],
)  # fmt: skip
def test_the_last_event_says_how_it_ended(reason, finish, cause):
    chunk = read({"text": "x", "output_ids": [5], "meta_info": {"prompt_tokens": 3, "finish_reason": reason}})
    assert (chunk.finish, chunk.cause, chunk.meta["prompt_tokens"]) == (finish, cause, 3)


def test_text_that_comes_with_an_abort_is_not_output():
    event = {
        "text": "stray",
        "output_ids": [5],
        "meta_info": {"finish_reason": {"type": "abort", "message": "Aborted"}},
    }
    assert (read(event).text, read(event).tokens) == ("", 0)


def test_an_error_in_a_stream_is_an_error_although_http_said_200():
    assert read({"error": {"message": "The input is too long", "code": 400}}) == Chunk(
        "", 0, {}, "error", "bad_request"
    )


def test_an_event_may_hold_several_tokens_and_half_a_character():
    assert read({"text": "", "output_ids": [1, 2], "meta_info": {"finish_reason": None}}) == Chunk(
        "", 2, {"finish_reason": None}
    )


@pytest.fixture
async def engine():
    made = DictatedEngine()
    async with httpx.AsyncClient(transport=made, base_url="http://engine") as made.http:
        yield made


async def heard(engine, dictate):
    """The chunks of one request, and the exception that ended them."""
    chunks, broken = [], None

    async def listen():
        async for chunk in stream(engine.http, {"rid": "r"}):
            chunks.append(chunk)

    import asyncio

    task = asyncio.create_task(listen())
    await until(lambda: engine.calls)
    dictate(engine.calls[0])
    try:
        await task
    except EngineLost as lost:
        broken = lost
    return chunks, broken


async def test_a_whole_answer_is_read_to_its_finish(engine):
    def dictate(call):
        call.raw(b": a comment\n\n")
        call.say("a")
        call.stop("b")

    chunks, broken = await heard(engine, dictate)
    assert [(c.text, c.finish) for c in chunks] == [("a", ""), ("b", "stop")]
    assert broken is None
    assert engine.calls[0].closed


@pytest.mark.parametrize(
    "dictate",
    [
        lambda call: call.die(),
        lambda call: call.end(),
        lambda call: call.raw(b"data: [DONE]\n\n"),
        lambda call: (call.raw(b'data: {"text": "half\n\n'), call.end()),
        lambda call: (call.raw(b"data: 7\n\n"), call.end()),
    ],
    ids=["broken off", "ended without a word", "done without a finish", "half an event", "no event"],
)
async def test_a_stream_without_a_finish_is_a_lost_engine_and_never_success(engine, dictate):
    chunks, broken = await heard(engine, lambda call: (call.say("a"), dictate(call)))
    assert [c.text for c in chunks] == ["a"]
    assert broken is not None
    assert engine.calls[0].closed


@pytest.mark.parametrize(
    ("status", "cause"), [(503, "queue_full"), (400, "bad_request"), (401, "bad_request")]
)
async def test_a_refusal_by_status_is_an_error_with_its_kind(engine, status, cause):
    engine.refuse = httpx.Response(status, json={"error": "x"})
    assert [c async for c in stream(engine.http, {"rid": "r"})] == [Chunk("", 0, {}, "error", cause)]


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_router_whose_server_went_away_means_a_lost_engine(engine, status):
    engine.refuse = httpx.Response(status, json={"error": "call_upstream_request_error"})
    with pytest.raises(EngineLost):
        _ = [c async for c in stream(engine.http, {"rid": "r"})]


async def test_a_client_that_was_given_up_with_its_engine_means_a_lost_engine(engine):
    await engine.http.aclose()
    with pytest.raises(EngineLost):
        _ = [c async for c in stream(engine.http, {"rid": "r"})]


def test_the_salt_is_in_what_is_sent_and_in_nothing_that_is_printed():
    asked = waiting()
    assert asked.salt.value in str(request_body(asked, "r"))
    assert asked.salt.value not in repr(replace(asked, requeues=1))
