"""How the API's description names its two doors."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class ActorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer token for programs; the session cookie for the browsable page."""

    target_class = "nekibu.permissions.drf.ActorAuthentication"
    name = ["bearer", "session"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        return [
            {"type": "http", "scheme": "bearer", "bearerFormat": "nkb_…"},
            {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        ]
