"""Live progress of a batch: whoever watches is told that something moved, and reads the rest."""

from __future__ import annotations

import logging
import threading
import time
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

log = logging.getLogger(__name__)
AT_MOST_EVERY = 0.5  # seconds: a page that is told more often shows nothing more
_told: dict[UUID, float] = {}
_lock = threading.Lock()


def group_of(batch_id: UUID) -> str:
    """The Channels group of one batch."""
    return f"batch.{batch_id}"


def changed(batch_id: UUID, *, always: bool = False) -> None:
    """Tell that something moved, not too often unless it must be heard. Nobody hearing it loses nothing: pages look again."""
    now = time.monotonic()
    with _lock:
        if not always and now - _told.get(batch_id, 0.0) < AT_MOST_EVERY:
            return
        if len(_told) > 1_000:
            _told.clear()
        _told[batch_id] = now
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)(group_of(batch_id), {"type": "batch.changed"})
    except (RedisError, OSError) as broken:
        log.warning("live event of %s was not sent: %s", batch_id, type(broken).__name__)


def after_commit(batch_id: UUID) -> None:
    """`changed`, once the transaction stands."""
    transaction.on_commit(lambda: changed(batch_id, always=True))
