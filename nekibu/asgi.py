"""Composition of the web process: HTTP and sockets."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nekibu.settings.base")
django_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (models are ready only now)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402

from nekibu import celery, telemetry  # noqa: E402, F401  (services ring doorbells by task name)
from nekibu.routing import websocket_urlpatterns  # noqa: E402

telemetry.start("nekibu-web", settings.ENVIRONMENT.otlp_endpoint)

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
