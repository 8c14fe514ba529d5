"""What the reader of a page may do, so that a page offers only what will work."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from ats.permissions import AtsAction
from inference.permissions import InferenceAction
from nekibu.approvals.permissions import ApprovalAction
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide


@dataclass(frozen=True, slots=True)
class May:
    """Rights of the reader, by name."""

    read_applications: bool
    upload: bool
    evaluate: bool
    approve_rubric: bool
    override: bool
    read_cv: bool
    read_trace: bool
    decide: bool


def actor_of(request: HttpRequest) -> Actor:
    """The reader of a page behind `page`; there is always one."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return actor


def may(actor: Actor) -> May:
    """The rights of this actor. The services check them again."""

    def allowed(*actions: AtsAction | InferenceAction | ApprovalAction) -> bool:
        return all(bool(decide(actor, action)) for action in actions)

    return May(
        read_applications=allowed(AtsAction.APPLICATION_READ, AtsAction.EVALUATION_READ),
        upload=allowed(AtsAction.APPLICATION_WRITE),
        evaluate=allowed(AtsAction.EVALUATION_START),
        approve_rubric=allowed(AtsAction.RUBRIC_APPROVE),
        override=allowed(AtsAction.VERDICT_OVERRIDE, InferenceAction.DECISION_OVERRIDE),
        read_cv=allowed(AtsAction.CV_READ),
        read_trace=allowed(InferenceAction.TRACE_READ),
        decide=allowed(ApprovalAction.DECIDE),
    )
