"""Settings of every process. What an operator may decide comes from `nekibu.env`; everything else is written here."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext_lazy as _
from psycopg.conninfo import conninfo_to_dict

from nekibu import env, logs
from nekibu.embedded import secrets
from nekibu.embedded.layout import Layout

ENVIRONMENT = env.read()
LAYOUT = Layout(ENVIRONMENT.state)
SECRETS = secrets.load(ENVIRONMENT.state)

SECRET_KEY = SECRETS.django_secret_key
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *ENVIRONMENT.hosts]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ENVIRONMENT.hosts]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "nekibu.tenants",
    "nekibu.users",
    "nekibu.audit",
    "nekibu.jobs",
    "nekibu.idempotency",
    "nekibu.files",
    "nekibu.approvals",
    "nekibu.web",
    "nekibu.demo",
    "inference",
    "ats",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "nekibu.web.errors.ErrorPageMiddleware",
    "nekibu.approvals.middleware.RefusalMiddleware",  # around the transaction, so that a refusal survives its roll-back
    "nekibu.users.middleware.ActorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "nekibu.urls"
ASGI_APPLICATION = "nekibu.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [env.PROJECT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "nekibu.web.context.frame",
            ],
        },
    }
]


def database(url: str) -> dict[str, Any]:
    """Django's form of a connection URL, TCP or socket directory."""
    parts = conninfo_to_dict(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.get("dbname", "nekibu"),
        "USER": parts.get("user", ""),
        "PASSWORD": parts.get("password", ""),
        "HOST": parts.get("host", ""),
        "PORT": str(parts.get("port", "") or ""),
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": 60,
        "OPTIONS": {"connect_timeout": 10},
    }


_application_url = ENVIRONMENT.database_url or LAYOUT.database_url("nekibu_app", SECRETS.pg_app_password)
_owner_url = (
    ENVIRONMENT.owner_database_url
    or ENVIRONMENT.database_url
    or LAYOUT.database_url("nekibu_owner", SECRETS.pg_owner_password)
)
APPLICATION_ROLE = database(_application_url)["USER"] or "nekibu_app"
DATABASES = {
    "default": database(_owner_url if os.environ.get("NEKIBU_DB_ROLE") == "owner" else _application_url)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- broker, cache, sockets: three numbers of one embedded server, three prefixes of a given one -------------------
_redis = ENVIRONMENT.redis_url or f"unix://{quote(str(LAYOUT.valkey_socket))}"
_socket = _redis.removeprefix("unix://") if _redis.startswith("unix://") else None
CELERY_BROKER_URL = f"redis+socket://{_socket}?virtual_host=0" if _socket else _redis
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": f"unix://{_socket}?db=1" if _socket else _redis,
        "KEY_PREFIX": "nekibu",
    }
}
CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [f"unix://{_socket}?db=2" if _socket else _redis], "prefix": "nekibu-live"},
    }
}
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200, "global_keyprefix": "nekibu-jobs:"}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(ENVIRONMENT.state / "run" / "beat-schedule")
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep": {"task": "jobs.sweep", "schedule": 5.0, "options": {"expires": 5}},
    "collect-attempts": {"task": "inference.collect_attempts", "schedule": 20.0, "options": {"expires": 20}},
    "keep-accounts": {"task": "inference.keep_accounts", "schedule": 10.0, "options": {"expires": 10}},
    "sum-up-accounts": {"task": "inference.sum_up_accounts", "schedule": 300.0, "options": {"expires": 300}},
    "tend-batches": {"task": "inference.tend_batches", "schedule": 5.0, "options": {"expires": 5}},
    "expire-approvals": {"task": "approvals.expire", "schedule": 60.0, "options": {"expires": 60}},
    "remind-of-approvals": {"task": "approvals.remind", "schedule": 60.0, "options": {"expires": 60}},
}

# --- people ---------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "users.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = bool(ENVIRONMENT.hosts)
AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_FORM_FIELD = "username"
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_RESET_ON_SUCCESS = True

# --- browser --------------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
CSRF_FAILURE_VIEW = "nekibu.web.views.form_too_old"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
STATIC_URL = "/static/"
STATIC_ROOT = ENVIRONMENT.state / "static"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- words ----------------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "tr"
LANGUAGES = [("tr", _("Turkish")), ("en", _("English"))]
LOCALE_PATHS = [env.PROJECT / "locale"]
LANGUAGE_COOKIE_NAME = "nekibu_language"
USE_I18N = USE_TZ = True
TIME_ZONE = "Europe/Istanbul"

# --- API ------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["nekibu.permissions.drf.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["nekibu.permissions.drf.ActionPermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "nekibu.api.pagination.CursorPages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "nekibu.api.handler.handle",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Nekibu",
    "VERSION": "1",
    "DESCRIPTION": "Evidence-backed decisions. Offsets count characters (Unicode code points) of the stored text.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["nekibu.permissions.drf.SignedIn"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "CriterionVerdict": "ats.states.Verdict",
        "ApprovalVerdict": "nekibu.approvals.states.VerdictKind",
        "CriterionKind": "ats.api.serializers.CRITERION_KIND",
        "PriceKind": "inference.models.PriceKind",
        "BatchStatus": "inference.states.BatchStatus",
        "CostState": [("current", "current"), ("stale", "stale"), ("unknown", "unknown")],
        "RunClock": [("online", "online"), ("batch", "batch")],
        "ChosenClock": [("auto", "auto"), ("online", "online"), ("batch", "batch")],
    },
}

# --- files and engine -------------------------------------------------------------------------------------------------
FILES_ROOT = ENVIRONMENT.state / "files"
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 200
FILE_MAX_BYTES = 10 * 1024 * 1024
GATEWAY_URL = f"http://127.0.0.1:{ENVIRONMENT.gateway_port}"
GATEWAY_SECRET = SECRETS.gateway_secret
NEKIBU_ENGINE_UNQUALIFIED = ENVIRONMENT.model is None  # the packaged model is plumbing, not quality
INFERENCE_BODY_KEY = SECRETS.body_key

METRICS_TOKEN = ENVIRONMENT.metrics_token
LOGGING = logs.config({"axes": "WARNING", "httpx": "WARNING"})
