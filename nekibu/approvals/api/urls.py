"""Addresses of the inbox in the API."""

from django.urls import path

from nekibu.approvals.api import views

urlpatterns = [
    path("approvals/", views.Approvals.as_view(), name="api-approvals"),
    path("approvals/<uuid:approval_id>/", views.Approval.as_view(), name="api-approval"),
    path("approvals/<uuid:approval_id>/decide/", views.Decide.as_view(), name="api-approval-decide"),
    path("approvals/<uuid:approval_id>/delegate/", views.HandOver.as_view(), name="api-approval-delegate"),
    path("delegations/", views.Delegations.as_view(), name="api-delegations"),
    path("delegations/<uuid:delegation_id>/end/", views.EndDelegation.as_view(), name="api-delegation-end"),
]
