"""The tenants app."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "nekibu.tenants"
    label = "tenants"
    default_auto_field = "django.db.models.BigAutoField"
