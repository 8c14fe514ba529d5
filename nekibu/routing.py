"""Socket addresses: live progress of runs, batches and single decisions."""

from __future__ import annotations

from django.urls import path

from ats.consumers import RunProgress
from inference.consumers import BatchConsumer, DecisionConsumer

websocket_urlpatterns = [
    path("live/runs/<uuid:run_id>/", RunProgress.as_asgi()),
    path("live/batches/<uuid:batch_id>/", BatchConsumer.as_asgi()),
    path("live/decisions/<uuid:decision_id>/", DecisionConsumer.as_asgi()),
]
