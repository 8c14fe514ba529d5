"""What may be done with decisions, and what is recorded of it."""

from __future__ import annotations

from nekibu.audit.tags import AuditTag
from nekibu.permissions.actions import Action
from nekibu.permissions.roles import grant


class InferenceAction(Action):
    """Acts on decisions and on the engine's pages."""

    DECISION_READ = "inference:decision:read"
    DECISION_CREATE = "inference:decision:create"
    DECISION_CANCEL = "inference:decision:cancel"
    DECISION_OVERRIDE = "inference:decision:override"
    TRACE_READ = "inference:trace:read"
    BATCH_READ = "inference:batch:read"
    BATCH_CREATE = "inference:batch:create"
    BATCH_CONTROL = "inference:batch:control"
    ENGINE_READ = "inference:engine:read"
    ACCOUNT_READ = "inference:account:read"
    PRICE_READ = "inference:price:read"
    PRICE_ENTER = "inference:price:enter"
    PRICE_VERIFY = "inference:price:verify"


class InferenceTag(AuditTag):
    """What the audit chain says about decisions."""

    DECISION_RECEIVED = "inference:decision:received"
    DECISION_RESUMED = "inference:decision:resumed"
    DECISION_MOVED = "inference:decision:moved"
    DECISION_CORRECTED = "inference:decision:corrected"
    BATCH_RECEIVED = "inference:batch:received"
    BATCH_MOVED = "inference:batch:moved"
    BATCH_FILE_KEPT = "inference:batch_file:kept"
    BATCH_FILE_DELETED = "inference:batch_file:deleted"
    EPOCH_RAISED = "inference:epoch:raised"
    PRICE_ENTERED = "inference:price:entered"
    PRICE_VERIFIED = "inference:price:verified"
    BEHAVIOUR_ENTERED = "inference:behaviour:entered"
    BEHAVIOUR_VERIFIED = "inference:behaviour:verified"


def grant_all() -> None:
    """The roles' rights; an administrator has every right already."""
    a = InferenceAction
    everybody = (a.DECISION_READ, a.TRACE_READ, a.ENGINE_READ)
    for role in ("recruiter", "reviewer"):
        grant(role, *everybody, a.DECISION_CREATE, a.DECISION_CANCEL, a.DECISION_OVERRIDE)
    grant("recruiter", a.ACCOUNT_READ, a.BATCH_READ, a.BATCH_CREATE, a.BATCH_CONTROL)
    grant("hiring_manager", *everybody, a.DECISION_OVERRIDE, a.ACCOUNT_READ, a.PRICE_READ, a.BATCH_READ)
    grant("auditor", *everybody, a.ACCOUNT_READ, a.PRICE_READ, a.BATCH_READ)
    grant("interviewer", a.ENGINE_READ)
