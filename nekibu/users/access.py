"""The door of every page: signed in, and allowed to do what the page does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import quote

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from nekibu.permissions.actions import Action
from nekibu.permissions.policies import require

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def page(action: Action, **by_method: Action) -> Callable[[View], View]:
    """A page that needs `action`; `by_method` names another act for a method, such as `POST=AtsAction.X`.

    A stranger is sent to the sign-in page and back afterwards. The wrapped view carries `acts` for the
    permission walk.
    """

    def wrap(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            actor = getattr(request, "actor", None)
            if actor is None:
                return HttpResponseRedirect(f"{reverse('sign-in')}?next={quote(request.get_full_path())}")
            require(actor, by_method.get(request.method or "", action))
            return view(request, *args, **kwargs)

        guarded.acts = {"GET": action, **by_method}  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return wrap


def public(view: View) -> View:
    """A page for everybody. Said aloud, so that the permission walk knows that it is meant."""
    view.acts = None  # type: ignore[attr-defined]
    return view
