"""Acts on requests: ask, assign, decide, withdraw, expire. Each is one transaction with its audit row."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals.models import ApprovalRequest, Verdict
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.registry import handler_of
from nekibu.approvals.states import AFTER, MOVES, Status, VerdictKind
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.errors import AlreadyDecided, Conflict, Gone, InvalidInput, NotFound, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.users.models import User


class ApprovalVoid(Conflict):
    """What was to be decided has changed since the request was made; a new request is needed."""

    code = "approval_void"


def request_approval(
    *,
    actor: Actor,
    kind: str,
    subject_type: str,
    subject_id: str,
    title: str,
    reasons: list[str],
    parameters: dict[str, Any],
    roles: list[str],
    url: str = "",
    group_key: str = "",
    group_title: str = "",
    due_at: datetime | None = None,
    expires_at: datetime | None = None,
) -> ApprovalRequest:
    """Ask people with one of `roles` about exactly these parameters; a pending request for the subject is returned."""
    handler_of(kind)
    pending = ApprovalRequest.objects.filter(kind=kind, subject_id=subject_id, status=Status.PENDING).first()
    if pending is not None:
        return pending
    request = ApprovalRequest.objects.create(
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        title=title[:300],
        group_key=group_key,
        group_title=group_title[:300],
        url=url,
        reasons=reasons,
        parameters=parameters,
        params_hash=params_hash(parameters),
        nonce_digest=secrets.token_hex(32),
        roles=roles,
        requested_by={"name": actor.name, "channel": actor.channel},
        requester_id=actor.user_id,
        due_at=due_at,
        expires_at=expires_at,
    )
    record(
        actor,
        ApprovalTag.REQUESTED,
        request,
        kind=kind,
        about=subject_id,
        reasons=reasons,
        params_hash=request.params_hash,
    )
    return request


def params_hash(parameters: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of what is to be decided."""
    text = json.dumps(
        parameters, cls=DjangoJSONEncoder, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def nonce_for(request: ApprovalRequest, actor: Actor) -> str:
    """The single-use word that the decision form carries: bound to request, parameters, person and state."""
    text = f"{request.id}|{request.params_hash}|{request.nonce_digest}|{actor.user_id}|{request.status}"
    return hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


def decide(
    *,
    actor: Actor,
    approval_id: UUID,
    verdict: str,
    reason: str,
    nonce: str | None = None,
    value: Any = None,
    reason_code: str = "",
    params: str | None = None,
) -> ApprovalRequest:
    """A person's word, once. `params` is the hash of what the person saw (If-Match); a form sends the nonce instead.

    Raises NotPermitted (role, four eyes), AlreadyDecided, Gone (expired), ApprovalVoid, InvalidInput (no reason, bad value).
    """
    require(actor, ApprovalAction.DECIDE)
    if not actor.is_person:
        raise NotPermitted(_("Only a person can decide this."))
    if verdict not in VerdictKind.values:
        raise InvalidInput(
            errors=[
                {"field": "verdict", "code": "invalid", "message": _("Choose approve, change or reject.")}
            ]
        )
    if not reason.strip():
        raise InvalidInput(
            errors=[
                {
                    "field": "reason",
                    "code": "required",
                    "message": _("Give a reason; it stays in the record."),
                }
            ]
        )
    with transaction.atomic():
        request = ApprovalRequest.objects.select_for_update().filter(pk=approval_id).first()
        if request is None:
            raise NotFound
        _refuse_unless_open(request)
        if not (set(request.roles) & actor.roles or "admin" in actor.roles):
            raise NotPermitted(_("This decision belongs to another role."))
        if params_hash(request.parameters) != request.params_hash:
            raise ApprovalVoid
        seen = (
            nonce is not None and hmac.compare_digest(nonce, nonce_for(request, actor))
        ) or params == request.params_hash
        if not seen:
            raise ApprovalVoid
        handler = handler_of(request.kind)
        if verdict == VerdictKind.CHANGE:
            handler.check_value(request, value)
        word = Verdict.objects.create(
            request=request,
            verdict=verdict,
            reason=reason.strip(),
            reason_code=reason_code,
            value=value if verdict == VerdictKind.CHANGE else None,
            params_hash=request.params_hash,
            person_id=actor.user_id,
        )
        move(
            request,
            AFTER[VerdictKind(verdict)],
            moves=MOVES,
            actor=actor,
            tag=ApprovalTag.MOVED,
            note=reason_code,
            decided_at=timezone.now(),
        )
        handler.on_decided(actor, request, word)
    return request


def assign(*, actor: Actor, approval_id: UUID, user_id: UUID | None) -> ApprovalRequest:
    """Give a pending request to a person, or back to everybody."""
    require(actor, ApprovalAction.ASSIGN)
    with transaction.atomic():
        request = ApprovalRequest.objects.select_for_update().filter(pk=approval_id).first()
        if request is None or (user_id and not User.objects.filter(pk=user_id, is_active=True).exists()):
            raise NotFound
        _refuse_unless_open(request)
        request.assignee_id = user_id
        request.save(update_fields=["assignee"])
        record(actor, ApprovalTag.ASSIGNED, request, assignee=str(user_id) if user_id else None)
    return request


def withdraw(*, actor: Actor, kind: str, subject_id: str, note: str) -> int:
    """Take back what is still pending for a subject (it was replaced or cancelled). Returns how many."""
    taken = 0
    for request in ApprovalRequest.objects.select_for_update().filter(
        kind=kind, subject_id=subject_id, status=Status.PENDING
    ):
        move(request, Status.WITHDRAWN, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, note=note)
        taken += 1
    return taken


def expire_due(*, actor: Actor) -> int:
    """Block what nobody decided in time. Returns how many."""
    expired = 0
    for request in ApprovalRequest.objects.select_for_update(skip_locked=True).filter(
        status=Status.PENDING, expires_at__lte=timezone.now()
    ):
        move(request, Status.EXPIRED, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED)
        handler_of(request.kind).on_expired(actor, request)
        expired += 1
    return expired


def _refuse_unless_open(request: ApprovalRequest) -> None:
    if request.status == Status.EXPIRED or (request.expires_at and request.expires_at <= timezone.now()):
        raise Gone
    if request.status != Status.PENDING:
        word = request.verdicts.select_related("person").order_by("-id").first()
        raise AlreadyDecided(status=request.status, by=word.person.name if word else None)
