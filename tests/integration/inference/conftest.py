"""A task over numbered lines, and the shipped local gateway, which can be made to stumble."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from inference import connection, registry
from inference.fake import FakeEngine, LocalGateway
from inference.wire import Frame, Started, Ticket
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import grant
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from tests.unit.inference.specs import Lines, LinesAction, request

_numbers = itertools.count(1)


class Stumbling:
    """The local gateway behind its port; `stumbles` are taken instead of an answer, one for each ticket."""

    def __init__(self) -> None:
        self.script: Callable[[str, str | None], str | None] | None = None
        self.inner = LocalGateway(FakeEngine(script=self._answer))
        self.stumbles: list[Frame | Exception | None] = []
        self.tickets: list[Ticket] = []
        self.while_running: Callable[[Ticket], None] | None = None

    def _answer(self, prompt: str, schema: str | None) -> str | None:
        return self.script(prompt, schema) if self.script else None

    def generate(self, ticket: Ticket) -> Iterator[Frame]:
        self.tickets.append(ticket)
        stumble = self.stumbles.pop(0) if self.stumbles else None
        if isinstance(stumble, Exception):
            raise stumble
        if stumble is not None:
            yield stumble
            return
        for frame in self.inner.generate(ticket):
            yield frame
            if isinstance(frame, Started) and self.while_running is not None:
                self.while_running(ticket)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.fixture
def gateway() -> Iterator[Stumbling]:
    """The gateway of this process, for one test."""
    local = Stumbling()
    connection.install(local)
    yield local
    connection.install(None)


@pytest.fixture
def lines() -> Lines:
    """A registered task of its own; `lines.slug` is its name."""
    grant("recruiter", LinesAction.LINES_ASK)
    made = Lines(a="Python 2019-2024\nSQL, 5 yıl\nGerman B2", b="Go\nRust")
    made.slug = f"lines.term{next(_numbers)}"  # type: ignore[attr-defined]
    registry.register(made.spec(slug=made.slug))  # type: ignore[attr-defined]
    return made


@pytest.fixture
def ask(transactional_db: None, tenant: Any, lines: Lines, gateway: Stumbling) -> Callable[..., Any]:
    """`ask(key, term=…)` decides one question for the tenant's worker."""
    from inference import services

    def decide(key: str = "k", **changes: Any) -> Any:
        changes.setdefault("actor", Actor.system(tenant.id, "worker"))
        options = {name: changes.pop(name) for name in ("on_event", "stop", "wait") if name in changes}
        return services.decide(request(key, task=lines.slug, **changes), **options)  # type: ignore[attr-defined]

    return decide


@pytest.fixture
def browser(transactional_db: None, person_of: Callable[..., Actor]) -> Callable[..., Client]:
    """`browser(tenant, role, language)` → a signed-in client."""

    def make(tenant: Tenant, role: str = "auditor", language: str = "en") -> Client:
        actor = person_of(tenant, role)
        client = Client(headers={"Accept-Language": language})
        with tenant_scope(tenant.id):
            client.force_login(
                User.objects.get(pk=actor.user_id), backend="django.contrib.auth.backends.ModelBackend"
            )
        return client

    return make
