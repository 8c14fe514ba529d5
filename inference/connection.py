"""How this process meets the gateway, and what it last heard about the engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Protocol

from django.conf import settings

from inference.errors import EngineDown, GatewayLost
from inference.tokens import Tokenizer, load
from inference.wire import AttemptRecord, EngineState, EngineView, Frame, Ticket

FRESH = 2.0  # seconds


class Gateway(Protocol):
    """What the pipeline asks of a gateway, over the socket or in this process."""

    def generate(self, ticket: Ticket) -> Iterator[Frame]: ...

    def cancel(self, attempt_id: str) -> bool: ...

    def state(self) -> EngineState: ...

    def engines(self) -> list[EngineView]: ...

    def attempts(self) -> list[AttemptRecord]: ...

    def acknowledge(self, ids: list[str]) -> None: ...


_lock = threading.Lock()
_gateway: Gateway | None = None
_known: tuple[float, EngineState] | None = None


def gateway() -> Gateway:
    """The gateway of this process."""
    global _gateway
    with _lock:
        if _gateway is None:
            from inference.client import GatewayClient

            _gateway = GatewayClient(settings.GATEWAY_URL, settings.GATEWAY_SECRET)
        return _gateway


def install(replacement: Gateway | None) -> None:
    """Use another gateway from now on, such as the shipped local one; None goes back to the configured one."""
    global _gateway, _known
    with _lock:
        _gateway, _known = replacement, None


def engine() -> EngineState:
    """What is known of the engine, at most two seconds old; while the gateway is away, what it last said."""
    global _known
    held = _known
    if held is not None and time.monotonic() - held[0] < FRESH:
        return held[1]
    try:
        state = gateway().state()
    except GatewayLost:
        if held is None:
            raise
        return held[1]
    if state.tokenizer:
        _known = (time.monotonic(), state)
    return state


def tokenizer(state: EngineState) -> Tokenizer:
    """The served model's own tokenizer. Raises EngineDown while the model is not yet known."""
    if not state.tokenizer or state.context_length is None:
        raise EngineDown(state=state.state)
    return load(state.tokenizer)
