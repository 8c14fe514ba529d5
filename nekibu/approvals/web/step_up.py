"""The password once more, for what is high risk; it counts for ten minutes of this session."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils import timezone

from nekibu.approvals.errors import StepUpFailed
from nekibu.approvals.permissions import ApprovalTag
from nekibu.approvals.services.deciding import RECENT
from nekibu.audit.record import record
from nekibu.permissions.actor import Actor
from nekibu.users.models import User

KEY = "approvals_confirmed_at"


def confirmed_at(request: HttpRequest) -> datetime | None:
    """When this session's person last gave the password again."""
    held = request.session.get(KEY)
    return datetime.fromisoformat(held) if held else None


def is_recent(request: HttpRequest) -> bool:
    """Whether that counts still."""
    moment = confirmed_at(request)
    return moment is not None and timezone.now() - moment <= RECENT


def confirm(request: HttpRequest, actor: Actor, password: str) -> None:
    """Take the password again. Raises StepUpFailed; too many wrong ones lock the person out, as at the sign-in page."""
    person = User.objects.filter(pk=actor.user_id or UUID(int=0)).first()
    known = authenticate(request, username=person.email, password=password) if person else None
    if person is None or known is None or known.pk != person.pk:
        raise StepUpFailed
    request.session[KEY] = timezone.now().isoformat()
    record(actor, ApprovalTag.CONFIRMED, person)
