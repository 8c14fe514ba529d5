"""The recruiting app."""

from django.apps import AppConfig


class AtsConfig(AppConfig):
    """Grants its acts and registers what it asks the model."""

    name = "ats"
    label = "ats"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from ats import inference_tasks, permissions
        from ats.web import questions

        permissions.grant_all()
        inference_tasks.register_all()
        questions.register()
