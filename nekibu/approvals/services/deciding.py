"""A person's word: given once, on exactly what was shown, carried out when enough have agreed, or taken back before that."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from nekibu.approvals import nonces
from nekibu.approvals.authority import approvals_of, standing_of, standing_words
from nekibu.approvals.errors import (
    ApprovalVoid,
    DecidingStopped,
    OtherParameters,
    ParametersNeeded,
    StepUpNeeded,
)
from nekibu.approvals.models import ApprovalRequest, Retraction, Stop, Verdict
from nekibu.approvals.permissions import ApprovalAction, ApprovalTag
from nekibu.approvals.refusals import refusals_noted
from nekibu.approvals.registry import Handler, handler_of
from nekibu.approvals.rules import diff
from nekibu.approvals.sealing import intact, params_hash
from nekibu.approvals.services.telling import tell
from nekibu.approvals.states import AFTER, AGREED, MOVES, NoticeKind, Status, VerdictKind
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.errors import AlreadyDecided, Conflict, Gone, InvalidInput, NotFound, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require

RECENT = timedelta(minutes=10)  # how long a confirmed password counts


@refusals_noted("decide")
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
    confirmed_at: datetime | None = None,
    now: datetime | None = None,
) -> ApprovalRequest:
    """A person's word, once. `params` is the hash of what the person saw (If-Match); a form sends its nonce instead.

    Returns the request: still pending while others have to agree; void where the parameters are not what was asked any more
    (then it has been asked again, as `superseded_by`). `confirmed_at` says when the password was last given again.
    Raises NotPermitted (role, four eyes, step-up), AlreadyDecided with the winner, Gone, OtherParameters, InvalidInput.
    """
    now = now or timezone.now()
    require(actor, ApprovalAction.DECIDE)
    if not actor.is_person:
        raise NotPermitted(_("Only a person can decide this."))
    _refuse_unreadable(verdict, reason)
    request, handler = _taken(approval_id)
    refuse_unless_open(request, now)
    standing = standing_of(actor, request, now)
    if standing.refusal is not None:
        raise standing.refusal
    refuse_stopped(request.kind)
    proof = _seen(request, actor, nonce, params, now)
    recently = confirmed_at is not None and now - RECENT <= confirmed_at <= now
    if request.step_up and not recently:
        raise StepUpNeeded
    if not _as_asked(request, handler):
        return _void(actor, request, handler)
    amended = handler.amended(request, value) if verdict == VerdictKind.CHANGE else None
    seq = (Verdict.objects.filter(request=request).aggregate(last=Max("seq"))["last"] or 0) + 1
    word: Verdict = Verdict.objects.create(
        request=request,
        seq=seq,
        verdict=verdict,
        reason=reason.strip(),
        reason_code=reason_code,
        value=value if amended is not None else None,
        diff=diff(request.parameters, amended) if amended is not None else [],
        params_hash=request.params_hash,
        new_params_hash=params_hash(amended) if amended is not None else "",
        person_id=actor.user_id,
        on_behalf_of=standing.principal,
        stepped_up=recently,
    )
    record(
        actor,
        ApprovalTag.SAID,
        request,
        verdict=verdict,
        reason_code=reason_code,
        on_behalf_of=str(standing.principal.id) if standing.principal else None,
        params_hash=request.params_hash,
        new_params_hash=word.new_params_hash,
        nonce=proof,
        stepped_up=recently,
    )
    if standing.principal is not None:
        tell(NoticeKind.SPOKEN_FOR, [standing.principal.id], request, by=actor.name, verdict=verdict)
    if verdict == VerdictKind.APPROVE and approvals_of(request) < request.quorum:
        return request
    move(
        request,
        AFTER[VerdictKind(verdict)],
        moves=MOVES,
        actor=actor,
        tag=ApprovalTag.MOVED,
        note=reason_code,
        decided_at=now,
    )
    if amended is not None and request.quorum > 1:
        _ask_several(actor, request, handler, value)
    elif handler.at_once or verdict == VerdictKind.REJECT:
        _carry_out(actor, request, handler, word, now)
    return request


@refusals_noted("take_back")
def take_back(*, actor: Actor, approval_id: UUID, now: datetime | None = None) -> ApprovalRequest:
    """Take one's own word back while others are still asked."""
    require(actor, ApprovalAction.DECIDE)
    request, _handler = _taken(approval_id)
    refuse_unless_open(request, now or timezone.now())
    word = next((w for w in standing_words(request) if w.person_id == actor.user_id), None)
    if word is None:
        raise Conflict(_("You have not said anything here that could be taken back."), code="nothing_said")
    Retraction.objects.create(verdict=word, person_id=actor.user_id)
    record(actor, ApprovalTag.TAKEN_BACK, request, verdict=word.verdict, seq=word.seq)
    return request


@refusals_noted("execute")
def execute(*, actor: Actor, approval_id: UUID, now: datetime | None = None) -> ApprovalRequest:
    """Carry out what was agreed, once: for kinds that do not do so with the last word.

    Returns the request, void where the switch is engaged or the parameters are not those that were agreed to.
    """
    now = now or timezone.now()
    request, handler = _taken(approval_id)
    if request.executed_at is not None:
        raise AlreadyDecided(_("This has been carried out."), code="already_executed", at=request.executed_at)
    if request.status not in AGREED:
        raise Conflict(current=request.status)
    if Stop.objects.filter(kind__in=("", request.kind), released_at=None).exists():
        move(request, Status.VOID, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, note="deciding_stopped")
        handler.on_void(actor, request)
        return request
    word = standing_words(request)[-1]
    if not _as_asked(request, handler):
        return _void(actor, request, handler)
    _carry_out(actor, request, handler, word, now)
    return request


def refuse_unless_open(request: ApprovalRequest, now: datetime) -> None:
    """Raises Gone for what expired, AlreadyDecided with name and time for what was decided."""
    if request.status == Status.EXPIRED or (
        request.status == Status.PENDING and request.expires_at is not None and request.expires_at <= now
    ):
        raise Gone(at=request.expires_at)
    if request.status != Status.PENDING:
        words = standing_words(request)
        raise AlreadyDecided(
            status=request.status,
            by=words[-1].person.name if words else None,
            at=words[-1].created_at.isoformat() if words else None,
        )


def refuse_stopped(kind: str) -> None:
    """Raises DecidingStopped while the switch of this kind, or of all, is engaged."""
    stop = Stop.objects.filter(kind__in=("", kind), released_at=None).select_related("engaged_by").first()
    if stop is not None:
        raise DecidingStopped(by=stop.engaged_by.name, reason=stop.reason, since=stop.created_at.isoformat())


def locked(approval_id: UUID) -> ApprovalRequest:
    """One request, its row locked. Raises NotFound, also for another tenant's."""
    request = ApprovalRequest.objects.select_for_update(of=("self",)).filter(pk=approval_id).first()
    if request is None:
        raise NotFound
    return request


def _taken(approval_id: UUID) -> tuple[ApprovalRequest, Handler]:
    """The product's row first, then the request's: everybody takes them in this order."""
    seen = ApprovalRequest.objects.filter(pk=approval_id).first()
    if seen is None:
        raise NotFound
    handler = handler_of(seen.kind)
    handler.lock(seen)
    return locked(approval_id), handler


def _refuse_unreadable(verdict: str, reason: str) -> None:
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


def _seen(
    request: ApprovalRequest, actor: Actor, nonce: str | None, params: str | None, now: datetime
) -> str | None:
    """That the person saw exactly this: by a form of ours, or by the hash of what was read."""
    if nonce is not None:
        return nonces.spend(nonce, request, actor, now)
    if params is None:
        raise ParametersNeeded
    if params != request.params_hash:
        raise OtherParameters(params_hash=request.params_hash)
    return None


def _as_asked(request: ApprovalRequest, handler: Handler) -> bool:
    """Whether the row is what was asked, and what would be carried out now is what it says."""
    if not intact(request):
        return False
    current = handler.current(request)
    return current is not None and params_hash(current) == request.params_hash


def _void(actor: Actor, request: ApprovalRequest, handler: Handler) -> ApprovalRequest:
    """Nothing is carried out; the question is put again with what is true now."""
    move(request, Status.VOID, moves=MOVES, actor=actor, tag=ApprovalTag.MOVED, note=ApprovalVoid.code)
    handler.on_void(actor, request)
    again = handler.ask_again(actor, request, None)
    if again is not None:
        speakers = {
            seat for w in standing_words(request) for seat in (w.person_id, w.on_behalf_of_id) if seat
        }
        tell(NoticeKind.ASKED_AGAIN, speakers - {actor.user_id}, again)
    return request


def _ask_several(actor: Actor, request: ApprovalRequest, handler: Handler, value: Any) -> None:
    """A change that one person made is put to all again: what they agreed to before was something else."""
    again = handler.ask_again(actor, request, value)
    if again is None or again.supersedes_id != request.id:
        raise Conflict(_("The change could not be put to the others."))
    speakers = {seat for w in standing_words(request) for seat in (w.person_id, w.on_behalf_of_id) if seat}
    tell(NoticeKind.ASKED_AGAIN, speakers - {actor.user_id}, again, by=actor.name)


def _carry_out(
    actor: Actor, request: ApprovalRequest, handler: Handler, word: Verdict, now: datetime
) -> None:
    """Once: the row says so before the product acts, in the same transaction."""
    if not ApprovalRequest.objects.filter(pk=request.pk, executed_at=None).update(executed_at=now):
        raise AlreadyDecided(_("This has been carried out."), code="already_executed")
    request.executed_at = now
    record(
        actor,
        ApprovalTag.EXECUTED,
        request,
        verdict=word.verdict,
        params_hash=word.new_params_hash or request.params_hash,
    )
    handler.on_decided(actor, request, word)
