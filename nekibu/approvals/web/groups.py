"""Groups of people who decide together."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from nekibu.approvals import selectors, services
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.web.acts import act, chosen_id
from nekibu.approvals.web.rights import actor_of
from nekibu.approvals.web.words import refusal_words
from nekibu.errors import NekibuError, NotFound
from nekibu.users.access import page


@page(ApprovalAction.GROUPS)
def groups(request: HttpRequest) -> HttpResponse:
    """All groups with their people; a POST makes a new one."""
    status, problem = 200, ""
    if request.method == "POST":
        try:
            with transaction.atomic():
                made = services.create_group(
                    actor=actor_of(request),
                    key=request.POST.get("key", "").strip(),
                    name=request.POST.get("name", ""),
                )
        except NekibuError as refused:
            if refused.status not in {400, 409}:
                raise
            request.refused_code = refused.error_code  # type: ignore[attr-defined]
            status, problem = refused.status, refusal_words(refused)
        else:
            messages.success(request, _("The group %(name)s is there.") % {"name": made.name})
            return HttpResponseRedirect(reverse("approval-groups"))
    return render(
        request,
        "approvals/groups.html",
        {
            "groups": list(selectors.groups()),
            "colleagues": selectors.colleagues(ApprovalAction.DECIDE),
            "problem": problem,
            "typed": request.POST,
        },
        status=status,
    )


@act(ApprovalAction.GROUPS)
def members(request: HttpRequest, group_id: UUID) -> HttpResponse:
    """Add a person, or take one out."""
    actor, sent = actor_of(request), request.POST
    if not selectors.groups().filter(pk=group_id).exists():
        raise NotFound
    try:
        with transaction.atomic():
            if "leave" in sent:
                services.leave_group(
                    actor=actor, group_id=group_id, user_id=chosen_id("leave", sent["leave"])
                )
                messages.success(request, _("The person has left the group."))
            else:
                services.join_group(
                    actor=actor, group_id=group_id, user_id=chosen_id("user", sent.get("user", ""))
                )
                messages.success(request, _("The person belongs to the group now."))
    except NekibuError as refused:
        if refused.status != 400:
            raise
        request.refused_code = refused.error_code  # type: ignore[attr-defined]
        messages.error(request, refusal_words(refused))
    return HttpResponseRedirect(reverse("approval-groups"))
