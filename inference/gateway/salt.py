"""Namespace → cache salt. Who may share computed tokens is decided here, and nobody else can say."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from inference.wire import Ticket


@dataclass(frozen=True, slots=True)
class Salt:
    """`value` goes to the engine alone; `id` may be written down."""

    value: str = field(repr=False)
    id: str
    shared: bool


def salt_of(key: bytes, ticket: Ticket) -> Salt:
    """HMAC over tenant, trust class and epoch, each with its length. A missing part, or `cache=off`, shares with nobody."""
    parts = (ticket.tenant, ticket.trust_class, ticket.acl_epoch)
    if ticket.cache == "off" or not all(parts):
        value = secrets.token_hex(32)
        return Salt(value, "once", False)
    message = b"kv1" + b"".join(len(p.encode()).to_bytes(4, "big") + p.encode() for p in parts if p)
    value = hmac.new(key, message, hashlib.sha256).hexdigest()
    return Salt(value, hashlib.sha256(b"id" + value.encode()).hexdigest()[:16], True)
