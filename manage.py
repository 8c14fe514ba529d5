#!/usr/bin/env python
"""Django's command line."""

import os
import sys

from django.core.management import execute_from_command_line

from nekibu import celery  # noqa: F401  (doorbells need the application)

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nekibu.settings.base")
    execute_from_command_line(sys.argv)
