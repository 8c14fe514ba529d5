"""Live decisions and batches over a socket: what is happening now, after a look at what has happened."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from inference.batches import live, selectors
from inference.live import group_of
from inference.permissions import InferenceAction
from inference.selectors import decision_for
from nekibu.errors import NekibuError, NotSignedIn
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.tenants.scope import tenant_scope
from nekibu.users.authentication import actor_of_user
from nekibu.users.models import User


class DecisionConsumer(AsyncJsonWebsocketConsumer):
    """Sends the decision's state, then each event. Closes with 4403 for whoever may not see it."""

    group = ""

    async def connect(self) -> None:
        decision_id: UUID = self.scope["url_route"]["kwargs"]["decision_id"]
        try:
            status = await self._status(decision_id)
        except NekibuError:
            await self.close(code=4403)
            return
        self.group = group_of(decision_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        await self.send_json({"type": "status", "decision_id": str(decision_id), "status": status})

    async def disconnect(self, code: int) -> None:
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def decision_event(self, message: dict[str, Any]) -> None:
        """One live event of the group."""
        await self.send_json(message["event"])

    @database_sync_to_async
    def _status(self, decision_id: UUID) -> str:
        actor = _actor(self.scope)
        with tenant_scope(actor.tenant_id):
            require(actor, InferenceAction.DECISION_READ)
            return str(decision_for(actor, decision_id).status)


class BatchConsumer(AsyncJsonWebsocketConsumer):
    """Sends the batch's progress, then again whenever something moved. Closes with 4403 for whoever may not see it."""

    group = ""

    async def connect(self) -> None:
        self.batch_id: UUID = self.scope["url_route"]["kwargs"]["batch_id"]
        try:
            first = await self._read()
        except NekibuError:
            await self.close(code=4403)
            return
        self.group = live.group_of(self.batch_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        await self.send_json(first)

    async def disconnect(self, code: int) -> None:
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def batch_changed(self, _message: dict[str, Any]) -> None:
        """Something of the batch moved."""
        await self.send_json(await self._read())

    @database_sync_to_async
    def _read(self) -> dict[str, Any]:
        actor = _actor(self.scope)
        with tenant_scope(actor.tenant_id):
            require(actor, InferenceAction.BATCH_READ)
            return selectors.progress_of(selectors.batch_for(actor, self.batch_id)).flat()


def _actor(scope: Any) -> Actor:
    user = scope["user"]
    actor = actor_of_user(user, scope["session"].get("tenant")) if isinstance(user, User) else None
    if actor is None:
        raise NotSignedIn
    return actor
