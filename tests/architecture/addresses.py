"""The table of addresses, read from Django itself, and what each of them needs to be asked. A new address appears here by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from nekibu.api.views import BaseView
from nekibu.permissions.actions import Action

METHODS = ("get", "post", "put", "patch", "delete")
# Everybody may ask these. An address that becomes public has to be named here.
PUBLIC = {
    "home",
    "health",
    "ready",
    "metrics",
    "set-language",
    "set-theme",
    "sign-in",
    "sign-out",
    "schema",
    "docs",
}
# Bodies that a write needs before it looks its object up; everything else is sent without one.
BODIES: dict[str, dict[str, Any]] = {
    "api-verdict-override": {"verdict": "met", "reason": "seen", "pieces": ["E1"]},
    "api-decision-override": {"value": {"verdict": "met"}, "reason": "seen"},
    "api-approval-decide": {"verdict": "reject", "reason": "seen", "params_hash": "0" * 64},
    "api-approval-delegate": {"user": "00000000-0000-7000-8000-000000000000"},
}
# A person's word about a verdict is also one about its decision and, while that waits, about the request for approval:
# a token has to name these acts too. What is behind a figure and in a result are decisions, so both have to be readable.
FURTHER = {
    "api-verdict-override",
    "api-decision-override",
    "api-account-decisions",
    "api-file-content",
    "api-batch-results",
}
_UNSAID = object()


@dataclass(frozen=True, slots=True)
class Address:
    """One pattern with its view."""

    name: str
    kwargs: tuple[str, ...]
    view: Any

    @property
    def is_api(self) -> bool:
        """Whether it answers in JSON."""
        return isinstance(getattr(self.view, "cls", None), type)

    @property
    def actions(self) -> Any:
        """Act by method in lower case; None for everybody; `_UNSAID` when the view says neither."""
        said = vars(self.view).get("acts", _UNSAID)
        cls = getattr(self.view, "cls", None)
        if said is _UNSAID and isinstance(cls, type) and issubclass(cls, BaseView):
            said = cls.actions or _UNSAID
        return {method.lower(): act for method, act in said.items()} if isinstance(said, dict) else said

    @property
    def is_public(self) -> bool:
        """Whether everybody may ask it."""
        return self.actions is None

    @property
    def says_nothing(self) -> bool:
        """Whether it forgot to say who may ask it."""
        return self.actions is _UNSAID or (isinstance(self.actions, dict) and not self.actions)

    def act(self, method: str) -> Action | None:
        """What a method needs. A page's methods need what its GET needs unless they are named."""
        actions: dict[str, Action] = self.actions
        return actions.get(method, None if self.is_api else actions["get"])

    def path(self, ids: dict[str, UUID]) -> str:
        """Its path for these objects. A kwarg that the world does not make fails here, by name."""
        missing = [name for name in self.kwargs if name not in ids]
        assert not missing, (
            f"{self.name}: the world makes no object for {missing}; add it to tests/architecture/world.py"
        )
        return reverse(self.name, kwargs={name: ids[name] for name in self.kwargs})

    def ask(self, client: Client, method: str, ids: dict[str, UUID], **more: Any) -> Any:
        """Ask it, with the body that it needs."""
        request = {"headers": {"Idempotency-Key": f"{self.name}-{method}"}, **more}
        if method != "get":
            request |= {"data": BODIES.get(self.name, {})}
            if self.is_api and self.name not in {"api-applications", "api-files"}:
                request |= {"content_type": "application/json"}
        return getattr(client, method)(self.path(ids), **request)


def addresses() -> list[Address]:
    """Every address of `nekibu.urls`."""
    return list(_walk(get_resolver("nekibu.urls").url_patterns))


def guarded() -> list[Address]:
    """Those that need an act."""
    return [a for a in addresses() if not a.is_public and not a.says_nothing]


def _walk(patterns: Any) -> Iterator[Address]:
    for entry in patterns:
        if isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns)
        elif isinstance(entry, URLPattern):
            yield Address(entry.name or "", tuple(entry.pattern.converters), entry.callback)
