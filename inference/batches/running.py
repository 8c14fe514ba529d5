"""One claimed group from its items to their results: a few at a time, each on the path of every decision, on the batch clock."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone
from django.utils.translation import override

from inference import connection as engine
from inference import services
from inference.batches import claims, fairness, inputs
from inference.batches.claims import Claim, Fenced
from inference.batches.closing import conclude
from inference.batches.live import changed
from inference.errors import EngineDown, GatewayLost
from inference.idempotency import IdempotencyMismatch
from inference.models import Batch, BatchItem, Decision
from inference.selectors import speaking_attempts
from inference.states import BatchStatus, DecisionStatus, ItemStatus
from inference.types import Outcome
from nekibu.errors import Conflict, NekibuError
from nekibu.tenants.scope import tenant_scope

log = logging.getLogger(__name__)
AT_ONCE = 8  # of a group, if the engine has as many places
AWAY = timedelta(seconds=5)  # until an engine or gateway that is away is asked again
SPOKEN_FOR = timedelta(seconds=5)
GROUPS = 2  # of a process at a time: its other threads have other work
_groups = threading.BoundedSemaphore(GROUPS)


def run_next() -> bool:
    """Claim one group and work on it. False when there was none, or this process has enough of them."""
    if not _groups.acquire(blocking=False):
        return False
    try:
        claim = claims.claim_next()
        if claim is None:
            return False
        work(claim)
        return True
    finally:
        _groups.release()


def work(claim: Claim) -> None:
    """Ask every item of the group; what cannot be asked now waits again."""
    claims.renewal.hold(claim)
    group = _Group(claim)
    try:
        places = engine.engine().slots or AT_ONCE
        with ThreadPoolExecutor(min(AT_ONCE, places, len(claim.items)), "batch") as pool:
            for _ in range(min(AT_ONCE, places, len(claim.items))):
                pool.submit(group.ask_on)
    except (EngineDown, GatewayLost) as away:
        group.stop(away)
    finally:
        claims.renewal.release(claim)
        with tenant_scope(claim.tenant_id):
            claims.give_back(group.left, group.pause)
            for batch_id in {item.batch_id for item in claim.items}:
                conclude(batch_id)


class _Group:
    """The items of one claim that nobody has begun yet, shared by the threads that ask them."""

    def __init__(self, claim: Claim) -> None:
        self.tenant_id = claim.tenant_id
        self.left = deque(claim.items)
        self.pause = timedelta(0)
        with tenant_scope(claim.tenant_id):
            ids = {item.batch_id for item in claim.items}
            self.locales = dict(Batch.objects.filter(pk__in=ids).values_list("id", "locale"))
        self._stopped = threading.Event()

    def stop(self, away: NekibuError) -> None:
        """Begin no more: the engine has no room, or is away."""
        self.pause = max(AWAY, timedelta(seconds=float(away.data.get("retry_after") or 0)))
        self._stopped.set()

    def ask_on(self) -> None:
        """One thread: item after item."""
        try:
            while not self._stopped.is_set():
                try:
                    item = self.left.popleft()
                except IndexError:
                    return
                with override(self.locales[item.batch_id]):
                    self._ask(item)
        finally:
            connection.close()

    def _ask(self, item: BatchItem) -> None:
        begun = False  # an engine had it in hand: if it breaks then, the item may be what broke it

        def hear(kind: str, _data: Mapping[str, Any]) -> None:
            nonlocal begun
            begun |= kind == "started"

        try:
            with tenant_scope(self.tenant_id):
                if not claims.begin(item):
                    _leave(item)
                    return
                request = inputs.request_of(item)
            outcome = services.decide(request, on_event=hear)
            with tenant_scope(self.tenant_id):
                _settle(item, outcome)
        except Fenced:
            log.info("item %s of batch %s was taken over", item.custom_id, item.batch_id)
        except services.InProgress:
            self._again(item, SPOKEN_FOR, uncount=True)
        except NekibuError as refused:
            if refused.retryable:
                self.stop(refused)
                self._again(item, self.pause, uncount=not begun)
            elif isinstance(refused, Conflict) and not isinstance(refused, IdempotencyMismatch):
                self._again(item, SPOKEN_FOR, uncount=True)  # somebody else brings it to rest
            else:
                self._refuse(item, refused)
        except DatabaseError:
            log.warning("item %s waits for its lease to end: the database is away", item.custom_id)
            close_old_connections()
        except Exception:
            log.exception("item %s of batch %s broke", item.custom_id, item.batch_id)
            if item.attempts >= claims.MOST_ATTEMPTS:
                self._refuse(item, NekibuError(code="internal_error"))
            else:
                self._again(item, timedelta(seconds=2**item.attempts))
        changed(item.batch_id)

    def _again(self, item: BatchItem, pause: timedelta, *, uncount: bool = False) -> None:
        with tenant_scope(self.tenant_id):
            if not uncount and item.attempts >= claims.MOST_ATTEMPTS:
                _end(item, ItemStatus.FAILED, cause="attempts_exhausted")
            else:
                claims.give_back([item], pause, uncount=uncount)

    def _refuse(self, item: BatchItem, refused: NekibuError) -> None:
        detail = [e for e in refused.data.get("errors", []) if isinstance(e, dict)]
        with tenant_scope(self.tenant_id):
            _end(item, ItemStatus.FAILED, cause=refused.error_code, detail=detail)


def _settle(item: BatchItem, outcome: Outcome) -> None:
    """The decision is at rest: so is its item."""
    status, cause = ItemStatus.DONE, ""
    if outcome.status == DecisionStatus.FAILED:
        status, cause = ItemStatus.FAILED, outcome.reason.split(",")[0] or "failed"
    elif outcome.status == DecisionStatus.CANCELLED:
        late = item.due_at <= timezone.now()
        status, cause = (
            (ItemStatus.EXPIRED, "window_ended") if late else (ItemStatus.CANCELLED, outcome.reason)
        )
    rows = speaking_attempts(Decision.objects.get(pk=outcome.decision_id))
    spent = sum(
        fairness.weigh(a.uncached if a.uncached is not None else a.prompt_tokens or 0, a.output or 0)
        for a in rows
    )
    claims.finish(item, status, decision_id=outcome.decision_id, cause=cause, spent=spent)


def _leave(item: BatchItem) -> None:
    """An item that may not be begun: its batch is paused, being cancelled or out of time, or it is no longer ours."""
    row = claims.holds(item).select_related("batch").first()
    if row is None:
        return
    if row.batch.status == BatchStatus.CANCELLING:
        _end(item, ItemStatus.CANCELLED, cause="batch_cancelled")
    elif row.due_at <= timezone.now():
        _end(item, ItemStatus.EXPIRED, cause="window_ended")
    else:
        claims.give_back([item], timedelta(0))


def _end(
    item: BatchItem, status: ItemStatus, *, cause: str, detail: list[dict[str, str]] | None = None
) -> None:
    row = inputs.decision_of(item)
    try:
        claims.finish(item, status, decision_id=row.id if row else None, cause=cause, detail=detail or [])
    except Fenced:
        log.info("item %s of batch %s was taken over", item.custom_id, item.batch_id)
