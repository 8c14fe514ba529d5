"""Live events of a decision: what happens is told to its Channels group and to the caller, after it has been committed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

from inference.types import plain

log = logging.getLogger(__name__)
OnEvent = Callable[[str, Mapping[str, Any]], None]


def group_of(decision_id: UUID) -> str:
    """The Channels group of one decision."""
    return f"decision.{decision_id}"


def publish(decision_id: UUID, kind: str, **data: Any) -> None:
    """Tell everybody who watches. Nobody hearing it loses nothing: the record is in the database."""
    message = {
        "type": "decision.event",
        "event": {"type": kind, "decision_id": str(decision_id), **plain(data)},
    }
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)(group_of(decision_id), message)
    except (RedisError, OSError) as broken:
        log.warning("live event of %s was not sent: %s", decision_id, type(broken).__name__)


def after_commit(decision_id: UUID, kind: str, on_event: OnEvent | None, **data: Any) -> None:
    """`publish`, and tell the caller, once the transaction stands."""

    def tell() -> None:
        publish(decision_id, kind, **data)
        if on_event is not None:
            on_event(kind, {"decision_id": str(decision_id), **plain(data)})

    transaction.on_commit(tell)
