"""The base of every API view: an actor, an act per method, the scope of the actor's tenant."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from nekibu.errors import NotSignedIn
from nekibu.permissions.actions import Action
from nekibu.permissions.actor import Actor


class BaseView(APIView):
    """Set `actions` for each method that the view answers; a method without an act is refused."""

    actions: ClassVar[dict[str, Action]] = {}
    opens_own_scope: ClassVar[bool] = False

    @property
    def actor(self) -> Actor:
        """Who asks."""
        actor: Actor | None = getattr(self.request._request, "actor", None)
        if actor is None:
            raise NotSignedIn
        return actor

    def page(self, request: Request, rows: Any, serializer: Any, **context: Any) -> Response:
        """One page of a queryset."""
        from nekibu.api.pagination import CursorPages

        pages = CursorPages()
        found: Any = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(
            serializer(found, many=True, context={"request": request, **context}).data
        )

    @staticmethod
    def accepted(body: Any, location: str) -> Response:
        """202 with the address where the work can be watched."""
        return Response(body, status=status.HTTP_202_ACCEPTED, headers={"Location": location})
