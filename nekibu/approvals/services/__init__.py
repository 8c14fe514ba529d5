"""Acts on approvals: ask, give away, decide, take back, hand over, remind, expire, stop. Each is one transaction with its audit row."""

from __future__ import annotations

from nekibu.approvals.errors import ApprovalVoid
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.nonces import issue as nonces_for
from nekibu.approvals.sealing import params_hash
from nekibu.approvals.services.asking import request_approval, withdraw
from nekibu.approvals.services.assigning import assign, assign_back, assign_many
from nekibu.approvals.services.deciding import decide, execute, take_back
from nekibu.approvals.services.delegating import delegate, end_delegation, hand_over
from nekibu.approvals.services.grouping import create_group, join_group, leave_group
from nekibu.approvals.services.stopping import release, stop
from nekibu.approvals.services.telling import mark_read
from nekibu.approvals.services.timing import expire_due, remind_due
from nekibu.permissions.actor import Actor

__all__ = [
    "ApprovalVoid",
    "assign",
    "assign_back",
    "assign_many",
    "create_group",
    "decide",
    "delegate",
    "end_delegation",
    "execute",
    "expire_due",
    "hand_over",
    "join_group",
    "leave_group",
    "mark_read",
    "nonce_for",
    "nonces_for",
    "params_hash",
    "release",
    "remind_due",
    "request_approval",
    "stop",
    "take_back",
    "withdraw",
]


def nonce_for(request: ApprovalRequest, actor: Actor) -> str:
    """A single-use word for one form; a page with many forms asks for all at once (`nonces_for`)."""
    return nonces_for([request], actor)[request.id]
