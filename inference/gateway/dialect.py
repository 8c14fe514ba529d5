"""SGLang's words: a closed request, and its stream read without trusting HTTP 200."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import httpx

from inference.gateway.queue import Waiting
from inference.slo import CLASSES

GONE = {500, 502, 504}  # what a router says whose server went away


class EngineLost(Exception):
    """The stream broke without a last word: the engine is gone, or went while answering."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """New text and its tokens; the last one has a finish, or an error of the engine's."""

    text: str
    tokens: int
    meta: dict[str, Any]
    finish: str = ""  # stop, length, abort, error
    cause: str = ""  # queue_full, preempted, timeout, cancelled, engine_lost, bad_request


def request_body(waiting: Waiting, rid: str, *, repeat_salt: bool = False) -> dict[str, Any]:
    """Only what is listed here ever reaches the engine. `repeat_salt`: for a router that drops it where it belongs."""
    ticket = waiting.ticket
    sampling: dict[str, Any] = {
        "max_new_tokens": ticket.max_out, "temperature": ticket.temperature, "top_p": 1, "stop_token_ids": list(ticket.stop_token_ids),
    }  # fmt: skip
    if ticket.json_schema is not None:
        sampling["json_schema"] = ticket.json_schema
    body = {
        "rid": rid,
        "input_ids": list(ticket.input_ids),
        "cache_salt": waiting.salt.value,
        "priority": CLASSES[ticket.band].engine_priority,
        "stream": True,
        "sampling_params": sampling,
    }
    if repeat_salt:
        body["extra_key"] = waiting.salt.value
    return body


async def stream(http: httpx.AsyncClient, body: dict[str, Any]) -> AsyncGenerator[Chunk, None]:
    """The answer's chunks. Raises EngineLost when it ends without a finish."""
    try:
        async with http.stream("POST", "/generate", json=body) as response:
            if response.status_code != 200:
                await response.aread()
                if response.status_code in GONE:
                    raise EngineLost(f"status {response.status_code}")
                yield Chunk(
                    "", 0, {}, "error", "queue_full" if response.status_code == 503 else "bad_request"
                )
                return
            async for line in response.aiter_lines():
                if not line.startswith("data: "):
                    continue
                if line == "data: [DONE]":
                    break
                chunk = read(_event(line))
                yield chunk
                if chunk.finish:
                    return
    except httpx.HTTPError as broken:
        raise EngineLost(type(broken).__name__) from broken
    except RuntimeError as closed:  # httpx says so of a client that was given up with its engine
        if http.is_closed:
            raise EngineLost("closed") from closed
        raise
    raise EngineLost("no finish")


def _event(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line.removeprefix("data: "))
    except ValueError:
        raise EngineLost("half an event") from None
    if not isinstance(found, dict):
        raise EngineLost("not an event")
    return found


def read(raw: dict[str, Any]) -> Chunk:
    """One event. Text that comes with an abort is not output."""
    if "error" in raw:
        return Chunk("", 0, {}, "error", "bad_request")
    meta = raw.get("meta_info") or {}
    reason = meta.get("finish_reason")
    if not reason:
        return Chunk(raw.get("text") or "", len(raw.get("output_ids") or ()), meta)
    kind = reason.get("type")
    if kind == "abort":
        return Chunk("", 0, meta, "abort", _cause(reason))
    return Chunk(
        raw.get("text") or "",
        len(raw.get("output_ids") or ()),
        meta,
        "length" if kind == "length" else "stop",
    )


def _cause(reason: dict[str, Any]) -> str:
    message = str(reason.get("message", "")).lower()
    if "queue is full" in message:
        return "queue_full"
    if "higher priority" in message:
        return "preempted"
    if "timeout" in message:
        return "timeout"
    status = reason.get("status_code") or 200
    if status >= 500:
        return "engine_lost"
    return "bad_request" if status >= 400 else "cancelled"
