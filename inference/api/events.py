"""Server-sent events of decisions: one that is being made for this caller, and one that is watched."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.utils.translation import override

from inference import services
from inference.account import account_of, outcome_json
from inference.live import group_of
from inference.models import Decision
from inference.states import TERMINAL, WORKING
from inference.types import TaskRequest
from nekibu.api.handler import body
from nekibu.errors import NekibuError
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope

log = logging.getLogger(__name__)
LOOK_AGAIN = 1.0  # seconds between two looks at the record: a lost live event only costs this much
PING = 15.0


def event(kind: str, data: Any, number: int | None = None) -> bytes:
    """One event as it goes over the wire."""
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
    return (
        f"id: {number}\n" if number is not None else ""
    ).encode() + f"event: {kind}\ndata: {text}\n\n".encode()


async def deciding(request: TaskRequest, language: str) -> AsyncIterator[bytes]:
    """Decide, and tell as it happens. A caller who goes away stops the engine; what it did is recorded and paid."""
    loop, heard = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any] | None]()
    stop, known = threading.Event(), dict[str, str]()

    def tell(kind: str, data: Mapping[str, Any]) -> None:
        known["id"] = str(data["decision_id"])
        if kind not in {"done", "awaiting_approval", "demoted"}:
            loop.call_soon_threadsafe(heard.put_nowait, (kind, dict(data)))

    def run() -> None:
        with override(language):  # the caller's: a thread of its own knows none
            decide()

    def decide() -> None:
        try:
            outcome = services.decide(request, on_event=tell, stop=stop)
            with tenant_scope(request.tenant_id):
                row = Decision.objects.get(pk=outcome.decision_id)
                said = outcome_json(account_of(row))
            kind = "demoted" if outcome.status in WORKING else "awaiting_approval"
            last: tuple[str, Any] = ("done" if outcome.status in TERMINAL else kind, said)
        except NekibuError as error:
            last = ("error", body(error))
        except Exception:
            log.exception("a streamed decision failed")
            last = ("error", body(NekibuError()))
        finally:
            connection.close()
        loop.call_soon_threadsafe(heard.put_nowait, last)
        loop.call_soon_threadsafe(heard.put_nowait, None)

    worker = loop.run_in_executor(None, run)
    try:
        while (item := await _next(heard)) is not None:
            yield b": ping\n\n" if item == ("ping", None) else event(*item)
        await worker
    finally:
        if not worker.done():
            stop.set()
            loop.run_in_executor(None, _abandon, request.actor, known.get("id"))


def _abandon(actor: Actor, decision_id: str | None) -> None:
    if decision_id is None:
        return
    try:
        services.cancel(
            actor=Actor.system(actor.tenant_id, "disconnected client"),
            decision_id=UUID(decision_id),
            reason="client_cancelled",
        )
    except NekibuError as error:
        log.warning("decision %s could not be cancelled: %s", decision_id, error.error_code)
    finally:
        connection.close()


async def watching(actor: Actor, decision_id: UUID, after: int) -> AsyncIterator[bytes]:
    """The record from `after` on (a step's number), then live, until the decision is closed. Leaving cancels nothing."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(group_of(decision_id), channel)
    look = sync_to_async(_look)
    idle = 0.0
    try:
        said = ""
        while True:
            status, steps, last = await look(actor, decision_id, after)
            for number, stage, payload in steps:
                after = number
                yield event(stage, payload, number)
            if status != said:
                said = status
                yield event("status", {"decision_id": str(decision_id), "status": status})
            if last is not None:
                yield event("done", last)
                return
            try:
                message = await asyncio.wait_for(layer.receive(channel), LOOK_AGAIN)
            except TimeoutError:
                idle += LOOK_AGAIN
                if idle >= PING:
                    idle = 0.0
                    yield b": ping\n\n"
                continue
            live = message["event"]
            if live["type"] in {"delta", "waiting", "started", "restart"}:
                yield event(live["type"], live)
    finally:
        await layer.group_discard(group_of(decision_id), channel)
        await sync_to_async(_part)()


def _look(actor: Actor, decision_id: UUID, after: int) -> tuple[str, list[tuple[int, str, Any]], Any]:
    with tenant_scope(actor.tenant_id):
        row = Decision.objects.get(pk=decision_id)
        steps = list(row.steps.filter(seq__gt=after).order_by("seq").values_list("seq", "stage", "payload"))
        last = outcome_json(account_of(row)) if row.status in TERMINAL else None
        return row.status, steps, last


def _part() -> None:
    """Give this thread's connection back to the database."""
    connection.close()


async def _next(heard: asyncio.Queue[tuple[str, Any] | None]) -> tuple[str, Any] | None:
    try:
        return await asyncio.wait_for(heard.get(), PING)
    except TimeoutError:
        return ("ping", None)
