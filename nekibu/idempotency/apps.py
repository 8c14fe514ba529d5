"""The idempotency app."""

from django.apps import AppConfig


class IdempotencyConfig(AppConfig):
    name = "nekibu.idempotency"
    label = "idempotency"
    default_auto_field = "django.db.models.BigAutoField"
