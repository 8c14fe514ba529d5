"""Acts on approvals."""

from __future__ import annotations

from nekibu.audit.tags import AuditTag
from nekibu.permissions.actions import Action


class ApprovalAction(Action):
    """Who may see the inbox, decide, give away and hand over. The request's own roles are checked besides."""

    READ = "approvals:request:read"
    DECIDE = "approvals:request:decide"
    ASSIGN = "approvals:request:assign"
    DELEGATE = "approvals:delegation:manage"
    GROUPS = "approvals:group:manage"
    STOP = "approvals:stop:manage"


class ApprovalTag(AuditTag):
    """What is written."""

    REQUESTED = "approvals:request:created"
    ASSIGNED = "approvals:request:assigned"
    MOVED = "approvals:request:moved"
    EXECUTED = "approvals:request:executed"
    REMINDED = "approvals:request:reminded"
    REFUSED = "approvals:request:refused"
    SAID = "approvals:word:given"
    TAKEN_BACK = "approvals:word:taken_back"
    CONFIRMED = "approvals:identity:confirmed"
    DELEGATED = "approvals:delegation:created"
    DELEGATION_ENDED = "approvals:delegation:ended"
    GROUP_CREATED = "approvals:group:created"
    GROUP_JOINED = "approvals:group:joined"
    GROUP_LEFT = "approvals:group:left"
    STOPPED = "approvals:stop:engaged"
    RELEASED = "approvals:stop:released"
