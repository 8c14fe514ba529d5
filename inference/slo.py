"""Service classes: the three bands, their order, their place in the engine, how many may wait and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Band(StrEnum):
    """How soon somebody needs the answer. The order of definition is the order of service."""

    INTERACTIVE = "interactive"
    STANDARD = "standard"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """Default targets of a band (milliseconds, seconds) and its room in the queue."""

    ttft_ms: int | None
    tpot_ms: int | None
    e2e_ms: int | None
    queue_ttl: float  # seconds a request may wait before it is refused
    queue_bound: int  # requests that may wait at once
    engine_priority: int  # a gap above 10 lets the engine preempt, so only batch work is ever pushed out


CLASSES = MappingProxyType(
    {
        Band.INTERACTIVE: ServiceClass(1_000, 50, None, 120.0, 256, 20),
        Band.STANDARD: ServiceClass(4_000, 100, 60_000, 300.0, 512, 15),
        Band.BATCH: ServiceClass(None, None, None, 3_600.0, 1_024, 0),
    }
)
# Targets of a machine without a GPU. No claim about speed may use them.
DEV_TTFT_MS, DEV_TPOT_MS = 10_000, 250
NO_GPU = frozenset({"cpu"})
MAX_QUEUE_TTL = 24 * 3_600.0
