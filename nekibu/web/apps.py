"""The frame of the interface as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Owns no rows."""

    name = "nekibu.web"
    label = "nekibu_web"

    def ready(self) -> None:
        from nekibu.api import openapi  # noqa: F401  (registers itself)
