"""The files app."""

from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "nekibu.files"
    label = "files"
    default_auto_field = "django.db.models.BigAutoField"
