"""Signing in and out."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView

from nekibu.permissions.roles import ROLES
from nekibu.users.access import public
from nekibu.users.web.forms import SignInForm


class SignIn(LoginView):
    """The sign-in page; the demo's addresses are listed where a demo was seeded."""

    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"demo_users": demo_users()}


def demo_users() -> list[dict[str, str]]:
    """Addresses and passwords of the seeded demo, empty on an installation without one."""
    path = settings.ENVIRONMENT.state / "demo.json"
    if not path.exists():
        return []
    demo: dict[str, list[dict[str, str]]] = json.loads(path.read_text())
    companies = {tenant["slug"]: tenant["name"] for tenant in demo["tenants"]}
    return [
        {
            "label": f"{companies[user['tenant']]} · {ROLES[user['role']]}",
            "email": user["email"],
            "password": user["password"],
        }
        for user in demo["users"]
    ]


sign_in = public(SignIn.as_view())
sign_out = public(LogoutView.as_view(next_page="sign-in"))
