"""The Celery application: queues by service class, the doorbell's settings and the beat schedule."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nekibu.settings.base")

app = Celery("nekibu")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()  # the threads of a web process have no current application of their own
app.autodiscover_tasks()
