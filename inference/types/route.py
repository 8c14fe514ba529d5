"""Which tier answers, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inference.slo import Band

Tier = Literal["rules", "economic", "strong", "person"]


@dataclass(frozen=True, slots=True)
class Route:
    """Which tier answers, and why."""

    tier: Tier
    reason: str
    rule_hits: tuple[str, ...] = ()
    needs_approval: bool = False
    pool: str = "default"
    policy_version: str = "hard-rules-1"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Online or batch, and what the gateway may do with the waiting."""

    clock: Literal["online", "batch"]
    band: Band
    queue_ttl: float
    deadline: float | None
    on_predicted_miss: Literal["demote", "reject", "serve_late"]
    retries_left: int
    ttft: float | None = None  # seconds until the first token is promised
    reasons: tuple[str, ...] = ()
