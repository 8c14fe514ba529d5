"""Enters the tenant's scope for the length of a request: one transaction, one actor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from nekibu.api.handler import error_response
from nekibu.errors import NekibuError
from nekibu.tenants.scope import tenant_scope
from nekibu.users.authentication import actor_of


class ActorMiddleware:
    """Sets `request.actor`, and runs the view in the actor's tenant.

    A view marked `opens_own_scope = True` (long or streaming work) gets the actor but no transaction; one marked
    `own_authorization = True` looks at the header itself and gets no actor.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _marked(request, "own_authorization"):
            request.actor = None  # type: ignore[attr-defined]
            return self.get_response(request)
        try:
            request.actor = actor_of(request)  # type: ignore[attr-defined]
        except NekibuError as refused:
            return error_response(refused)
        actor = request.actor  # type: ignore[attr-defined]
        if actor is None or _marked(request, "opens_own_scope"):
            return self.get_response(request)
        with tenant_scope(actor.tenant_id):
            response = self.get_response(request)
            if response.status_code >= 500:
                transaction.set_rollback(True)
        return response


def _marked(request: HttpRequest, mark: str) -> bool:
    try:
        view: Any = resolve(request.path_info).func
    except Resolver404:
        return False
    return bool(getattr(getattr(view, "cls", getattr(view, "view_class", view)), mark, False))
