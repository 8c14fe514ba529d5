"""Server-sent events of a batch: its progress at once, whenever something moved, and a last word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import connection

from inference.api.batch_shapes import progress_json
from inference.api.events import PING, event
from inference.batches import selectors
from inference.batches.live import group_of
from inference.states import BATCH_CLOSED
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope

LOOK_AGAIN = 2.0  # seconds between two looks where no bell was heard: a lost one only costs this much


async def watching(actor: Actor, batch_id: UUID) -> AsyncIterator[bytes]:
    """`progress` until it has ended, then `done`. Each event is the whole, so a broken connection misses nothing."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(group_of(batch_id), channel)
    look = sync_to_async(_look)
    said, idle = None, 0.0
    try:
        while True:
            found = await look(actor, batch_id)
            if found["status"] in BATCH_CLOSED:
                yield event("done", found)
                return
            if found != said:
                said, idle = found, 0.0
                yield event("progress", found)
            try:
                await asyncio.wait_for(layer.receive(channel), LOOK_AGAIN)
            except TimeoutError:
                idle += LOOK_AGAIN
                if idle >= PING:
                    idle = 0.0
                    yield b": ping\n\n"
    finally:
        await layer.group_discard(group_of(batch_id), channel)
        await sync_to_async(_part)()


def _look(actor: Actor, batch_id: UUID) -> dict[str, Any]:
    with tenant_scope(actor.tenant_id):
        batch = selectors.batch_for(actor, batch_id)
        return {"batch_id": str(batch_id), **progress_json(selectors.progress_of(batch))}


def _part() -> None:
    """Give this thread's connection back to the database."""
    connection.close()
