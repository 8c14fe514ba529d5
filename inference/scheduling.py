"""Stage 8: online or batch, the band, and how long a request may wait."""

from __future__ import annotations

from datetime import datetime

from inference.reasons import Noted
from inference.slo import DEV_TTFT_MS, MAX_QUEUE_TTL, NO_GPU, Band
from inference.types import Mode, Schedule, ServicePolicy


def schedule(
    policy: ServicePolicy, mode: Mode, *, now: datetime, deadline_at: datetime | None, device: str = ""
) -> Schedule:
    """The clock and band of a request. A caller chooses between now and later, never a priority.

    A near deadline buys no place in the queue: it only says when the answer is useless. A machine without a GPU promises
    no first token sooner than its own preset.
    """
    slo = policy.slo
    if mode == "batch" or (mode == "auto" and slo.band == Band.BATCH):
        window = float(slo.completion_window)
        return Schedule(
            clock="batch",
            band=Band.BATCH,
            queue_ttl=min(window, MAX_QUEUE_TTL),
            deadline=_left(deadline_at, now),
            on_predicted_miss=slo.on_predicted_miss,
            retries_left=policy.retry.max_attempts - 1,
            reasons=(Noted.BATCH.say(minutes=slo.completion_window // 60),),
        )
    band = Band.INTERACTIVE if mode == "online" else slo.band
    deadline = _left(deadline_at, now)
    reasons = [(Noted.PERSON_WAITS if mode == "online" else Noted.OWN_BAND).say(band=band.value)]
    if slo.e2e_ms is not None:
        deadline = min(deadline, slo.e2e_ms / 1000) if deadline is not None else slo.e2e_ms / 1000
    promise = slo.ttft_ms
    if promise is not None and device in NO_GPU:
        promise = max(promise, DEV_TTFT_MS)
    if deadline is not None:
        reasons.append(Noted.USELESS.say(seconds=f"{deadline:.0f}"))
    return Schedule(
        clock="online",
        band=band,
        queue_ttl=min(slo.queue_ttl_ms / 1000, MAX_QUEUE_TTL),
        deadline=deadline,
        on_predicted_miss=slo.on_predicted_miss,
        retries_left=policy.retry.max_attempts - 1,
        ttft=None if promise is None else promise / 1000,
        reasons=tuple(reasons),
    )


def _left(deadline_at: datetime | None, now: datetime) -> float | None:
    return None if deadline_at is None else max(0.001, (deadline_at - now).total_seconds())
