"""Time-ordered identifiers (UUID version 7, RFC 9562): they sort by creation and reveal no counter."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> uuid.UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, then version, variant and 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (
        (milliseconds & ((1 << 48) - 1)) << 80
        | 0x7 << 76
        | (random >> 68 & 0xFFF) << 64
        | 0b10 << 62
        | random & ((1 << 62) - 1)
    )
    return uuid.UUID(int=value)
