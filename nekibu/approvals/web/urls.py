"""Addresses of the inbox."""

from django.urls import path

from nekibu.approvals.web import views

urlpatterns = [
    path("inbox/", views.inbox, name="inbox"),
    path("inbox/<uuid:approval_id>/", views.approval, name="approval"),
]
