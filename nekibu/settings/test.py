"""Settings of the tests: a throw-away server, nothing kept, the world turned off."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_state = Path(os.environ.setdefault("NEKIBU_STATE", tempfile.mkdtemp(prefix="nekibu-test-")))

from nekibu.settings.base import *  # noqa: E402, F403

ALLOWED_HOSTS = ["*"]
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
DATABASES["default"]["CONN_MAX_AGE"] = 0  # noqa: F405
FILES_ROOT = _state / "files"
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "WARNING"}}
