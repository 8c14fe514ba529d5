"""The service a task is given: time, retries, money, approval and caches."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from inference.slo import Band


@dataclass(frozen=True, slots=True)
class Slo:
    """What a caller may expect in time; milliseconds."""

    band: Band = Band.STANDARD
    ttft_ms: int | None = 10_000
    tpot_ms: int | None = 250
    e2e_ms: int | None = None
    completion_window: int = 4 * 3600  # seconds, for batch
    on_predicted_miss: Literal["demote", "reject", "serve_late"] = "serve_late"
    queue_ttl_ms: int = 30 * 60_000


@dataclass(frozen=True, slots=True)
class Retry:
    """How often one decision may ask: primary, repair and rerun together at most `max_attempts`."""

    max_attempts: int = 2
    repair: Literal[0, 1] = 1
    escalate: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens and money of one decision."""

    max_in: int = 16_000
    max_out: int = 400
    cost_ceiling: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """When a person must agree, who, how many of them, and whether whoever asked may be among them."""

    mode: Literal["never", "on_finding", "always"] = "on_finding"
    groups: tuple[str, ...] = ("reviewer", "recruiter")  # roles, or keys of groups
    expires_in: int | None = None  # seconds
    quorum: int = 1
    four_eyes: bool = False


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """Who may share the engine's prefix tree, and whether an answer may be kept."""

    mode: Literal["isolated", "public", "off"] = "isolated"
    response: bool = False


@dataclass(frozen=True, slots=True)
class ServicePolicy:
    """The service a task is given."""

    slo: Slo = field(default_factory=Slo)
    retry: Retry = field(default_factory=Retry)
    budget: Budget = field(default_factory=Budget)
    approval: Approval = field(default_factory=Approval)
    cache: CachePolicy = field(default_factory=CachePolicy)
    min_source_coverage: Decimal = Decimal(1)
    version: int = 1
