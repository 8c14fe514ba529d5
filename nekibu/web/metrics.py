"""What Prometheus reads, and who may read it: whoever shows the token, or, where there is none, this machine."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST

from inference import measures
from nekibu.errors import NotFound
from nekibu.users.access import public

LOOPBACK = {"127.0.0.1", "::1"}
PASSED_ON = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")


@public
def metrics(request: HttpRequest) -> HttpResponse:
    """The counters of the installation. A stranger is told that there is no such page."""
    if not _may_read(request):
        raise NotFound
    return HttpResponse(measures.told(), content_type=CONTENT_TYPE_LATEST)


metrics.own_authorization = True  # type: ignore[attr-defined]


def _may_read(request: HttpRequest) -> bool:
    """A proxy on this machine comes from loopback too: what was passed on, or asked under a public name, is a stranger's."""
    token = settings.METRICS_TOKEN
    if token is not None:
        given = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {token}".encode())
    name = request.get_host().rsplit(":", 1)[0]
    return (
        request.META.get("REMOTE_ADDR") in LOOPBACK
        and not any(header in request.META for header in PASSED_ON)
        and name in {"127.0.0.1", "localhost", "[::1]"}
    )
