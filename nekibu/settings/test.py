"""Settings of the tests: a throw-away server, nothing kept, the world turned off."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Never the state of a running installation, whatever the caller's environment says.
if "nekibu-test-" not in os.environ.get("NEKIBU_STATE", ""):
    os.environ["NEKIBU_STATE"] = tempfile.mkdtemp(prefix="nekibu-test-", dir="/tmp")
for _external in ("DATABASE_URL", "NEKIBU_OWNER_DATABASE_URL", "REDIS_URL"):
    os.environ.pop(_external, None)
_state = Path(os.environ["NEKIBU_STATE"])
_state.chmod(0o711)  # PostgreSQL runs under its own user

from nekibu.settings.base import *  # noqa: E402, F403

ALLOWED_HOSTS = ["*"]
STATIC_ROOT = _state / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns of one that is missing
WHITENOISE_USE_FINDERS = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
DATABASES["default"]["CONN_MAX_AGE"] = 0  # noqa: F405
FILES_ROOT = _state / "files"
GATEWAY_URL = "http://127.0.0.1:9"  # the discard port: tests never meet the gateway of a running installation
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "WARNING"}}
