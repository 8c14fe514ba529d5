"""One decision over a web socket."""

from __future__ import annotations

import json
import uuid

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.db import connections

from inference.consumers import DecisionConsumer
from inference.live import group_of
from nekibu.users.models import User


@pytest.fixture
async def thread():
    yield
    await sync_to_async(connections.close_all)()


async def opened(decision_id, user):
    """The socket, and the server's first word."""
    scope = {
        "type": "websocket",
        "path": "/",
        "headers": [],
        "user": user,
        "session": {},
        "url_route": {"kwargs": {"decision_id": decision_id}},
    }
    wire = ApplicationCommunicator(DecisionConsumer.as_asgi(), scope)
    await wire.send_input({"type": "websocket.connect"})
    return wire, await wire.receive_output(5)


async def test_it_tells_how_the_decision_stands_and_what_happens(thread, ask, tenant, person_of):
    outcome = await sync_to_async(ask)()
    user = await sync_to_async(lambda: User.objects.get(pk=person_of(tenant, "recruiter").user_id))()
    wire, first = await opened(outcome.decision_id, user)
    assert first["type"] == "websocket.accept"
    assert json.loads((await wire.receive_output(5))["text"])["status"] == "accepted"
    event = {"type": "delta", "text": "x"}
    await get_channel_layer().group_send(
        group_of(outcome.decision_id), {"type": "decision.event", "event": event}
    )
    assert json.loads((await wire.receive_output(5))["text"]) == event
    await wire.send_input({"type": "websocket.disconnect", "code": 1000})
    await wire.wait(5)


async def test_whoever_may_not_see_it_is_turned_away(thread, ask, tenant, other_tenant, person_of):
    outcome = await sync_to_async(ask)()

    def user_of(company, role):
        return User.objects.get(pk=person_of(company, role).user_id)

    stranger = await sync_to_async(user_of)(other_tenant, "admin")
    narrow = await sync_to_async(user_of)(tenant, "interviewer")
    for decision_id, user in (
        (outcome.decision_id, stranger),
        (outcome.decision_id, narrow),
        (outcome.decision_id, None),
        (uuid.uuid4(), stranger),
    ):
        wire, first = await opened(decision_id, user)
        assert (first["type"], first["code"]) == ("websocket.close", 4403)
        await wire.send_input({"type": "websocket.disconnect", "code": 4403})
        await wire.wait(5)
