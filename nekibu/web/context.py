"""What every page knows: who is signed in, where one can go, how the engine stands, how the page looks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from ats.permissions import AtsAction
from inference.permissions import InferenceAction
from nekibu.approvals.permissions import ApprovalAction
from nekibu.approvals.selectors import attention_for
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import in_scope
from nekibu.web.engine_status import engine_status

THEMES = ("nekibu", "nekibu-dark")


def frame(request: HttpRequest) -> dict[str, Any]:
    """Django's context processor."""
    actor: Actor | None = getattr(request, "actor", None)
    chosen = request.COOKIES.get("nekibu_theme", "")
    found: dict[str, Any] = {"theme": chosen if chosen in THEMES else "", "actor": actor}
    if actor is None:
        return found
    return found | {
        "engine": SimpleLazyObject(engine_status),
        "navigation": SimpleLazyObject(lambda: _navigation(request, actor)),
        "tenant_name": SimpleLazyObject(
            lambda: Tenant.objects.filter(pk=actor.tenant_id).values_list("name", flat=True).first() or ""
        ),
    }


def _navigation(request: HttpRequest, actor: Actor) -> list[dict[str, Any]]:
    waiting = attention_for(actor) if in_scope() and decide(actor, ApprovalAction.READ) else 0
    entries = (
        (AtsAction.JOB_READ, "ats-jobs", _("Jobs"), "briefcase", 0),
        (ApprovalAction.READ, "inbox", _("Inbox"), "inbox", waiting),
        (InferenceAction.DECISION_READ, "decisions", _("Decisions"), "scale", 0),
        (InferenceAction.ACCOUNT_READ, "operations", _("Operations"), "activity", 0),
        (InferenceAction.ENGINE_READ, "engine", _("Engine"), "cpu", 0),
    )
    return [
        {
            "url": reverse(name),
            "label": label,
            "icon": icon,
            "count": count,
            "current": request.path.startswith(reverse(name)),
        }
        for action, name, label, icon, count in entries
        if decide(actor, action)
    ]
