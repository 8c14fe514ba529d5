"""Signing in and out."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView

from nekibu.users.access import public


class SignIn(LoginView):
    """The sign-in page; the demo's addresses are listed where a demo was seeded."""

    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"demo_users": demo_users()}


def demo_users() -> list[dict[str, str]]:
    """Addresses and passwords of the seeded demo, empty on an installation without one."""
    path = settings.ENVIRONMENT.state / "demo.json"
    if not path.exists():
        return []
    users: list[dict[str, str]] = json.loads(path.read_text())["users"]
    return [{name: user[name] for name in ("label", "email", "password")} for user in users]


sign_in = public(SignIn.as_view())
sign_out = public(LogoutView.as_view(next_page="sign-in"))
