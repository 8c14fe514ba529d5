"""`manage.py seed_demo`: the demo tenants, and how to sign in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from nekibu.demo.seed import seed


class Command(BaseCommand):
    """Seeds the demo; prints the sign-ins."""

    help = "Make the demo tenants with people, tokens, jobs and sample CVs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", default=f"http://127.0.0.1:{settings.ENVIRONMENT.port}")
        parser.add_argument("--cvs", type=int, default=24)

    def handle(self, *args: Any, **options: Any) -> None:
        demo = seed(options["base_url"], cvs=options["cvs"])
        for user in demo["users"]:
            if user["role"] in {"recruiter", "reviewer", "admin"}:
                self.stdout.write(f"  {user['label']}: {user['email']} / {user['password']}")
