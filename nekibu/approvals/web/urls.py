"""Addresses of the inbox."""

from django.urls import path

from nekibu.approvals.web import acts, delegations, groups, question, views

urlpatterns = [
    path("inbox/", views.inbox, name="inbox"),
    path("inbox/decided/", views.decided, name="inbox-decided"),
    path("inbox/assign/", acts.assign, name="inbox-assign"),
    path("inbox/read/", acts.mark_read, name="inbox-read"),
    path("inbox/stop/", acts.stop, name="inbox-stop"),
    path("inbox/release/<uuid:stop_id>/", acts.release, name="inbox-release"),
    path("inbox/delegations/", delegations.delegations, name="delegations"),
    path("inbox/delegations/<uuid:delegation_id>/end/", delegations.end, name="delegation-end"),
    path("inbox/groups/", groups.groups, name="approval-groups"),
    path("inbox/groups/<uuid:group_id>/", groups.members, name="approval-group"),
    path("inbox/<uuid:approval_id>/", question.approval, name="approval"),
    path("inbox/<uuid:approval_id>/take-back/", acts.take_back, name="approval-take-back"),
    path("inbox/<uuid:approval_id>/hand-over/", acts.hand_over, name="approval-hand-over"),
]
