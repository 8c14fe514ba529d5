"""Addresses of the pages."""

from django.urls import path

from inference.web import views

urlpatterns = [
    path("decisions/", views.decisions, name="decisions"),
    path("decisions/<uuid:decision_id>/", views.trace, name="decision"),
    path("engine/", views.engine, name="engine"),
]
