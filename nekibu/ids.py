"""Time-ordered identifiers (UUID version 7, RFC 9562): they sort by creation and reveal no counter."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> uuid.UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, 12 bits of what is left of the time (RFC 9562 §6.2, method 3), 62 random bits."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    value = (
        (milliseconds & ((1 << 48) - 1)) << 80
        | 0x7 << 76
        | (rest * 4096 // 1_000_000) << 64
        | 0b10 << 62
        | int.from_bytes(os.urandom(8), "big") >> 2
    )
    return uuid.UUID(int=value)
