"""The inference app."""

from __future__ import annotations

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    label = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inference import permissions, settlement
        from inference.web import desk

        permissions.grant_all()
        settlement.register_approvals()
        desk.register()
