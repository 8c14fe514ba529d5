"""The door of the API: the actor found by the middleware, one act per method."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from nekibu.errors import NotPermitted, NotSignedIn
from nekibu.permissions.policies import require


class ActorAuthentication(BaseAuthentication):
    """Takes over `request.actor`. A session must bring the CSRF token for writes, a bearer token need not."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        inner: HttpRequest = request._request
        actor = getattr(inner, "actor", None)
        if actor is None:
            return None
        if actor.channel == "web":
            check = CSRFCheck(lambda _request: HttpResponse())
            check.process_request(inner)
            reason = check.process_view(inner, lambda _request: HttpResponse(), (), {})
            if reason:
                raise PermissionDenied
        return actor, actor

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ActionPermission(BasePermission):
    """The view's act for this method, decided by the one policy."""

    def has_permission(self, request: Request, view: Any) -> bool:
        actor = getattr(request._request, "actor", None)
        if actor is None:
            raise NotSignedIn
        if request.method == "OPTIONS":
            return True
        action = getattr(view, "actions", {}).get((request.method or "").lower())
        if action is None:
            raise NotPermitted
        require(actor, action)
        return True


class SignedIn(BasePermission):
    """Anybody with an actor; for the description of the API itself."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if getattr(request._request, "actor", None) is None:
            raise NotSignedIn
        return True
