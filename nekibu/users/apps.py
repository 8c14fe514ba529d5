"""The users app."""

from django.apps import AppConfig


class UsersConfig(AppConfig):
    name = "nekibu.users"
    label = "users"
    default_auto_field = "django.db.models.BigAutoField"
