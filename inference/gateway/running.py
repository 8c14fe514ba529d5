"""A request inside an engine: what has come of it so far, and what is said of it at its end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from inference.gateway.cost import Ending
from inference.gateway.dialect import Chunk
from inference.gateway.placement import OUTPUT_COST
from inference.gateway.queue import Waiting
from inference.usage import Usage, settle
from inference.wire import Phases

if TYPE_CHECKING:
    from inference.gateway.fleet import Replica

Account = tuple[Usage, Phases, float | None, float | None, int, str, str, str]


@dataclass(eq=False, slots=True)
class Running:
    """One try. `started`, `first` and `last` are seconds of the dispatcher's clock; `queued` is how long it had waited."""

    waiting: Waiting
    replica: Replica
    rid: str
    started: float
    queued: float
    unread: int  # tokens of the prompt that were expected to be computed
    first: float | None = None
    last: float | None = None
    tokens: int = 0
    text: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def hear(self, chunk: Chunk, now: float) -> None:
        """Take a chunk in."""
        self.meta |= chunk.meta  # a last word without counts does not unsay them
        if chunk.tokens:
            self.first = now if self.first is None else self.first
            self.last, self.tokens = now, self.tokens + chunk.tokens
            self.text.append(chunk.text)

    @property
    def ahead(self) -> float:
        """What is still to be computed, in tokens read."""
        unread = self.unread if self.first is None else 0
        return unread + OUTPUT_COST * max(0, self.waiting.ticket.max_out - self.tokens)

    def account(self) -> Account:
        """What every end tells, in the order of the wire's fields. What was not reported is None, never 0."""
        engine = self.replica.engine
        ttft = per = None
        if self.first is not None and self.last is not None:
            ttft = self.first - self.started
            per = (self.last - self.first) / (self.tokens - 1) if self.tokens > 1 else None
        revision = str(self.meta.get("weight_version") or engine.revision)
        return (
            self._usage(), self._phases(), ttft, per, self.waiting.requeues, revision, engine.fingerprint, self.waiting.salt.id,
        )  # fmt: skip

    def ending(self) -> Ending:
        """What the queue learns of it. Where the engine does not tell how long it read, its wait there counts as reading."""
        usage, phases = self._usage(), self._phases()
        per = ttft = None
        if self.first is not None and self.last is not None:
            ttft = self.first - self.started - (phases.engine_queue or 0.0)
            per = (self.last - self.first) / (self.tokens - 1) if self.tokens > 1 else None
        read = phases.prefill if phases.prefill is not None else ttft
        return Ending(usage.uncached, self.tokens, read if self.tokens else None, per)

    def _usage(self) -> Usage:
        found = settle(self.meta)
        if found.refused or self.tokens <= (found.output or 0):
            return found
        # Tokens that were heard were computed, whatever the engine had time to report.
        return replace(found, output=self.tokens, estimated=(*found.estimated, "output"))

    def _phases(self) -> Phases:
        meta = self.meta
        entry, filled, ended = (
            meta.get(name) for name in ("forward_entry_time", "prefill_finished_time", "request_finished_ts")
        )
        heard = self.last - self.first if self.last is not None and self.first is not None else None
        return Phases(
            gateway_queue=self.queued,
            engine_queue=meta.get("queue_time"),
            prefill=max(0.0, filled - entry) if filled and entry else None,
            decode=max(0.0, ended - filled) if ended and filled else heard,
        )
