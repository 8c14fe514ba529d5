"""Clients in every role, and two tenants with a row behind every address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from nekibu.users.models import User


@pytest.fixture(autouse=True)
def _nothing_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The shipped local gateway answers, and no doorbell rings: a walk asks for much work and wants none of it done."""
    from inference import connection
    from inference.fake import LocalGateway

    connection.install(LocalGateway())
    monkeypatch.setattr("nekibu.jobs.enqueue.ring", lambda work: None)
    yield
    connection.install(None)


@pytest.fixture
def signed_in(transactional_db: None, person_of: Any) -> Callable[..., Client]:
    """`signed_in(tenant, role)` → a browser with a session of its own, reading English."""

    def make(tenant: Any, role: str) -> Client:
        client = Client(headers={"Accept-Language": "en"}, raise_request_exception=False)
        client.force_login(
            User.objects.get(pk=person_of(tenant, role).user_id),
            backend="django.contrib.auth.backends.ModelBackend",
        )
        return client

    return make


@pytest.fixture
def world_of(transactional_db: None, person_of: Any) -> Callable[..., Any]:
    """`world_of(tenant, rows=2)` → its rows."""
    from tests.architecture.world import build

    def make(tenant: Any, rows: int = 2) -> Any:
        return build(tenant, User.objects.get(pk=person_of(tenant, "admin").user_id), rows=rows)

    return make
