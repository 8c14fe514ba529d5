"""The closed vocabulary of acts: `app:resource:verb`, one enum per app, so that a typo fails at import."""

from __future__ import annotations

import re
from enum import StrEnum

_SHAPE = re.compile(r"[a-z]+:[a-z_]+:[a-z_]+")
_known: dict[str, Action] = {}


class Action(StrEnum):
    """Base of every app's acts."""

    def __init__(self, value: str) -> None:
        if not _SHAPE.fullmatch(value):
            raise ValueError(f"{value!r} is not of the form app:resource:verb")
        if value in _known and type(_known[value]) is not type(self):
            raise ValueError(f"{value!r} is declared twice")
        _known[value] = self


def known_actions() -> tuple[Action, ...]:
    """Every act of every installed app, sorted."""
    return tuple(_known[name] for name in sorted(_known))
