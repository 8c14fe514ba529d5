"""Tickets for tests: a prompt of bytes in a namespace of its own."""

from __future__ import annotations

import json
import uuid
from typing import Any

from inference.slo import Band
from inference.tokens import ByteTokenizer
from inference.wire import Ticket

TOKENIZER = ByteTokenizer()


def ids_of(text: str) -> tuple[int, ...]:
    """Its tokens."""
    return tuple(TOKENIZER.encode(text, data=True))


def long_answer(characters: int) -> str:
    """A schema whose smallest value is so long, for the fake engine to write."""
    return json.dumps({"type": "string", "minLength": characters, "maxLength": characters})


def ticket(text: str = "Hello", **changes: Any) -> Ticket:
    """An interactive ticket of tenant t; anything may be changed."""
    fields: dict[str, Any] = {
        "attempt_id": uuid.uuid4().hex, "decision_id": "d", "band": Band.INTERACTIVE, "queue_ttl": 60.0, "input_ids": ids_of(text),
        "max_out": 64, "tenant": "t", "trust_class": "tenant", "acl_epoch": "1", "stop_token_ids": (2,),
    }  # fmt: skip
    return Ticket(**{**fields, **changes})
