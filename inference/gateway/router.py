"""A router of the SGLang project in front of several servers: who stands behind it, and how often it must be asked."""

from __future__ import annotations

import math
from typing import Any

import httpx

SURE = 0.01  # at most this likely may a server behind the router stay unasked


async def workers(http: httpx.AsyncClient) -> tuple[str, ...]:
    """The addresses of the healthy servers behind it, sorted; none for a server that is no router."""
    answer = await http.get("/workers", timeout=5.0)
    if answer.status_code != 200:
        return ()
    try:
        listed: Any = answer.json()["workers"]
        return tuple(sorted(str(one["url"]).rstrip("/") for one in listed if one.get("is_healthy", True)))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()


def rounds(count: int) -> int:
    """How many fresh prefixes must go through it so that each of so many servers has most likely had one."""
    return 1 if count < 2 else math.ceil(count * math.log(count / SURE))
