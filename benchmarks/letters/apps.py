"""The app that makes the task known in every process of a tree that runs for a benchmark."""

from __future__ import annotations

from django.apps import AppConfig


class LettersConfig(AppConfig):
    name = "benchmarks.letters"
    label = "letters"

    def ready(self) -> None:
        from benchmarks.letters import task

        task.register_task()
