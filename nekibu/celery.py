"""The Celery application: queues by service class, the doorbell's settings and the beat schedule."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init

from nekibu import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nekibu.settings.base")

app = Celery("nekibu")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()  # the threads of a web process have no current application of their own
app.autodiscover_tasks()


@worker_init.connect
def send_spans(**_signal: Any) -> None:
    """A worker tells where its time goes, if a collector was named."""
    from django.conf import settings

    telemetry.start("nekibu-worker", settings.ENVIRONMENT.otlp_endpoint)
