"""Acts of the recruiting product, and what is written about them."""

from __future__ import annotations

from nekibu.audit.tags import AuditTag
from nekibu.permissions.actions import Action
from nekibu.permissions.roles import grant


class AtsAction(Action):
    """Who may do what. An interviewer sees neither CVs nor verdicts here."""

    JOB_READ = "ats:job:read"
    JOB_WRITE = "ats:job:write"
    RUBRIC_WRITE = "ats:rubric:write"
    RUBRIC_APPROVE = "ats:rubric:approve"
    CANDIDATE_READ = "ats:candidate:read"
    APPLICATION_READ = "ats:application:read"
    APPLICATION_WRITE = "ats:application:write"
    CV_READ = "ats:cv:read"
    EVALUATION_READ = "ats:evaluation:read"
    EVALUATION_START = "ats:evaluation:start"
    VERDICT_OVERRIDE = "ats:verdict:override"


class AtsTag(AuditTag):
    """What is written."""

    JOB_CREATED = "ats:job:created"
    RUBRIC_CREATED = "ats:rubric:created"
    RUBRIC_MOVED = "ats:rubric:moved"
    APPLICATION_CREATED = "ats:application:created"
    CV_MOVED = "ats:cv:moved"
    EVALUATION_REQUESTED = "ats:evaluation:requested"
    EVALUATION_MOVED = "ats:evaluation:moved"
    VERDICT_SETTLED = "ats:verdict:settled"


def grant_all() -> None:
    """The roles' rights; an administrator has every right already."""
    a = AtsAction
    reading = (a.JOB_READ, a.CANDIDATE_READ, a.APPLICATION_READ, a.CV_READ, a.EVALUATION_READ)
    grant(
        "recruiter",
        *reading,
        a.JOB_WRITE,
        a.RUBRIC_WRITE,
        a.APPLICATION_WRITE,
        a.EVALUATION_START,
        a.VERDICT_OVERRIDE,
    )
    grant("reviewer", *reading, a.VERDICT_OVERRIDE)
    grant("hiring_manager", *reading, a.RUBRIC_APPROVE, a.VERDICT_OVERRIDE)
    grant("auditor", *reading)
    grant("interviewer", a.JOB_READ)
