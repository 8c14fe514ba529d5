"""Stage 1: may this actor ask it, what is at stake, under which policy. Refuses before anything is fetched."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from inference.reasons import Noted
from inference.registry import TaskSpec, find
from inference.shape import shape_errors
from inference.types import Risk, Subject, TaskProfile, TaskRequest, digest
from nekibu.errors import InvalidInput
from nekibu.permissions.policies import require

RISKS: dict[str, dict[str, Risk]] = {
    "low": {"reversible": "R0", "compensable": "R1", "irreversible": "R2"},
    "medium": {"reversible": "R1", "compensable": "R2", "irreversible": "R3"},
    "high": {"reversible": "R2", "compensable": "R3", "irreversible": "R3"},
}


@dataclass(frozen=True, slots=True)
class Classified:
    """The task, its subject and its profile."""

    spec: TaskSpec
    subject: Subject
    profile: TaskProfile


def authorise(request: TaskRequest) -> TaskSpec:
    """The task, if this actor may ask it. Raises NotFound for an unknown task, NotPermitted without the right."""
    spec = find(request.task, request.task_version)
    require(request.actor, spec.permission)
    return spec


def classify(request: TaskRequest) -> Classified:
    """Permission, input, subject, risk, policy; nothing of the case has been read yet.

    Raises NotPermitted, NotFound (another tenant's subject too) or InvalidInput, before any cost.
    """
    spec = authorise(request)
    errors = [
        {**error, "field": error["field"] or "inputs"}
        for error in shape_errors(spec.input_schema, dict(request.inputs))
    ]
    if not request.idempotency_key or len(request.idempotency_key) > 255:
        errors.append(
            {
                "field": "idempotency_key",
                "code": "required",
                "message": _("Between 1 and 255 characters are needed."),
            }
        )
    if errors:
        raise InvalidInput(errors=errors)
    subject = spec.load(request)
    risk = RISKS[spec.impact][spec.reversibility]
    reasons = [Noted.IMPACT.say(impact=spec.impact, reversibility=spec.reversibility, risk=risk)]
    if subject.ai_opt_out:
        reasons.append(Noted.OPT_OUT.say())
    if spec.adverse_effect_on_person:
        reasons.append(Noted.ADVERSE.say())
    reasons.extend(Noted.FLAG.say(flag=flag) for flag in sorted(subject.flags))
    profile = TaskProfile(
        task=spec.slug,
        version=spec.version,
        spec_hash=spec.hash,
        actor_digest=digest([request.actor.user_id, sorted(request.actor.roles), request.actor.channel]),
        risk=risk,
        reversibility=spec.reversibility,
        data_class="personal" if spec.personal_data else "internal",
        trust_class="tenant",
        acl_epoch="",
        policy=spec.policy,
        language=subject.language,
        ai_opt_out=subject.ai_opt_out,
        flags=subject.flags,
        reasons=tuple(reasons),
    )
    return Classified(spec, subject, profile)
