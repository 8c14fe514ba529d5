"""Addresses of decisions in the API."""

from django.urls import path

from inference.api import views

urlpatterns = [
    path("decisions/", views.Decisions.as_view(), name="api-decisions"),
    path("decisions/<uuid:decision_id>/", views.OneDecision.as_view(), name="api-decision"),
    path("decisions/<uuid:decision_id>/trace/", views.Trace.as_view(), name="api-decision-trace"),
    path("decisions/<uuid:decision_id>/events/", views.Events.as_view(), name="api-decision-events"),
    path("decisions/<uuid:decision_id>/cancel/", views.Cancel.as_view(), name="api-decision-cancel"),
    path("decisions/<uuid:decision_id>/override/", views.Override.as_view(), name="api-decision-override"),
    path("inference/status/", views.Status.as_view(), name="api-inference-status"),
]
