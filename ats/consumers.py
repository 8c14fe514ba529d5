"""Live progress of a run: every change rings, the page re-reads."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from ats import selectors
from ats.permissions import AtsAction
from nekibu.errors import NekibuError
from nekibu.permissions.policies import require
from nekibu.tenants.scope import tenant_scope
from nekibu.users.authentication import actor_of_user
from nekibu.users.models import User


class RunProgress(AsyncJsonWebsocketConsumer):
    """Sends `{total, ended, percent, …}` at once and after every change. A stranger is turned away before anything is sent."""

    async def connect(self) -> None:
        self.run_id = self.scope["url_route"]["kwargs"]["run_id"]
        try:
            first = await self._read()
        except NekibuError:
            await self.close(code=4404)
            return
        await self.channel_layer.group_add(f"ats.run.{self.run_id}", self.channel_name)
        await self.accept()
        await self.send_json(first)

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(f"ats.run.{self.run_id}", self.channel_name)

    async def changed(self, event: dict[str, Any]) -> None:
        """Something of the run moved."""
        await self.send_json(await self._read())

    @database_sync_to_async
    def _read(self) -> dict[str, Any]:
        user = self.scope["user"]
        actor = actor_of_user(user, self.scope["session"].get("tenant")) if isinstance(user, User) else None
        if actor is None:
            raise NekibuError
        with tenant_scope(actor.tenant_id):
            require(actor, AtsAction.EVALUATION_READ)
            found = selectors.progress(selectors.run(self.run_id))
        return found.counts()
