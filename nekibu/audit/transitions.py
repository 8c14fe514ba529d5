"""The one way a state moves: compare and set, with its audit row in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models, transaction

from nekibu.audit.record import record
from nekibu.audit.tags import AuditTag
from nekibu.errors import Conflict, IllegalMove
from nekibu.permissions.actor import Actor

Moves = Mapping[str, frozenset[str] | set[str]]


def move(
    row: models.Model,
    to: str,
    *,
    moves: Moves,
    actor: Actor,
    tag: AuditTag,
    note: str = "",
    field: str = "status",
    **changes: Any,
) -> None:
    """Move `row.<field>` to `to`, set `changes` with it, and record it.

    Raises IllegalMove when the table does not know the move, Conflict when somebody else moved first.
    """
    seen = str(getattr(row, field))
    if to not in moves.get(seen, frozenset()):
        raise IllegalMove(current=seen, wanted=to)
    with transaction.atomic():
        moved = type(row)._default_manager.filter(pk=row.pk, **{field: seen}).update(**{field: to, **changes})
        if not moved:
            raise Conflict(current=seen, wanted=to)
        for name, value in {field: to, **changes}.items():
            setattr(row, name, value)
        record(actor, tag, row, **{"from": seen, "to": str(to), "note": note})
