"""Acts on approvals."""

from __future__ import annotations

from nekibu.audit.tags import AuditTag
from nekibu.permissions.actions import Action


class ApprovalAction(Action):
    """Who may see the inbox and decide. The request's own roles are checked besides."""

    READ = "approvals:request:read"
    DECIDE = "approvals:request:decide"
    ASSIGN = "approvals:request:assign"


class ApprovalTag(AuditTag):
    """What is written."""

    REQUESTED = "approvals:request:created"
    ASSIGNED = "approvals:request:assigned"
    MOVED = "approvals:request:moved"
