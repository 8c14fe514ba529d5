"""Addresses of the frame."""

from django.urls import path

from nekibu.web import views
from nekibu.web.metrics import metrics

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("readyz", views.ready, name="ready"),
    path("metrics", metrics, name="metrics"),
    path("engine-status/", views.engine_status, name="engine-status"),
    path("language/", views.set_language, name="set-language"),
    path("theme/", views.set_theme, name="set-theme"),
]
