"""The closed vocabulary of audit tags: `app:resource:verb`, one enum per app."""

from __future__ import annotations

import re
from enum import StrEnum

_SHAPE = re.compile(r"[a-z]+:[a-z_]+:[a-z_]+")


class AuditTag(StrEnum):
    """Base of every app's tags."""

    def __init__(self, value: str) -> None:
        if not _SHAPE.fullmatch(value):
            raise ValueError(f"{value!r} is not of the form app:resource:verb")
