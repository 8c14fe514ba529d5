"""The fake engine behind the gateway's protocol, in this process: for tests that need no socket."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator

from inference.fake.engine import (
    CONTEXT,
    ENGINE,
    FINGERPRINT,
    NAME,
    POOL,
    REVISION,
    SLOTS,
    VOCABULARY,
    Answer,
    FakeEngine,
)
from inference.slo import Band
from inference.tokens import BYTES
from inference.usage import Usage
from inference.wire import (
    Aborted,
    AttemptRecord,
    Delta,
    Done,
    EngineState,
    EngineView,
    Frame,
    Phases,
    Queued,
    Refused,
    Started,
    Ticket,
)


class LocalGateway:
    """The fake engine behind the gateway's protocol, in this process. Nothing ever waits here; all else is as in the real one.

    What "as in the real one" means stands in `tests/integration/gateway/test_contract.py`, which runs against both.
    """

    def __init__(self, engine: FakeEngine | None = None) -> None:
        self.engine = engine or FakeEngine()
        self._records: dict[str, AttemptRecord] = {}
        self._running: dict[str, bool] = {}  # attempt → whether it was cancelled
        self._draining = False

    def generate(self, ticket: Ticket) -> Iterator[Frame]:
        """Queued, started, deltas, done. Closed early, it leaves a record of what was spent."""
        refused = self._refusal(ticket)
        if refused is not None:
            yield refused
            return
        self._running[ticket.attempt_id] = False
        salt, salt_id = _namespace(ticket)
        output, cut, answer = 0, True, None
        try:
            yield Queued(1, 0)
            yield Started(ENGINE, NAME, REVISION)
            answer = self.engine.generate(ticket.input_ids, salt, ticket.max_out, ticket.json_schema)
            for text, ids in answer.chunks():
                output += len(ids)
                yield Delta(text, len(ids))
                if self._running[ticket.attempt_id]:
                    yield Aborted("cancelled", False, *_account(answer, output, salt_id))
                    break
            else:
                yield Done(answer.finish, answer.text, *_account(answer, output, salt_id))
            cut = False
        finally:
            del self._running[ticket.attempt_id]
            if cut and answer is not None:
                self._records[ticket.attempt_id] = AttemptRecord(
                    ticket.attempt_id, ticket.decision_id, ticket.tenant, ticket.band, time.time(), "abort", "client_cancelled",
                    *_account(answer, output, salt_id),
                )  # fmt: skip

    def cancel(self, attempt_id: str) -> bool:
        """The attempt ends at its next frame; False when it is not known (any more)."""
        if attempt_id not in self._running:
            return False
        self._running[attempt_id] = True
        return True

    def state(self) -> EngineState:
        """Ready until it is drained."""
        return EngineState(
            engine=ENGINE, kind="fake", state="ready", since=0.0, detail="", model=NAME, revision=REVISION, device="none", tokenizer=BYTES,
            template="chatml", context_length=CONTEXT, max_input=CONTEXT, vocab_size=VOCABULARY, slots=SLOTS, max_total_tokens=POOL,
            fingerprint=FINGERPRINT, draining=self._draining, running=len(self._running), queues={str(band): 0 for band in Band},
            engines_ready=1,
        )  # fmt: skip

    def engines(self) -> list[EngineView]:
        """The one that there is."""
        return [
            EngineView(ENGINE, "ready", 0.0, "", NAME, REVISION, "none", SLOTS, POOL, len(self._running), 0, FINGERPRINT)
        ]  # fmt: skip

    def attempts(self) -> list[AttemptRecord]:
        """Records not yet acknowledged."""
        return list(self._records.values())

    def acknowledge(self, ids: list[str]) -> None:
        """Forget them."""
        for attempt_id in ids:
            self._records.pop(attempt_id, None)

    def drain(self) -> None:
        """Take no new work from now on."""
        self._draining = True

    def _refusal(self, ticket: Ticket) -> Refused | None:
        if self._draining:
            return Refused("draining", retry_after=10.0)
        if ticket.attempt_id in self._running:
            return Refused("duplicate")
        if any(not 0 <= token < VOCABULARY for token in ticket.input_ids):
            return Refused("bad_token")
        if len(ticket.input_ids) + ticket.max_out > CONTEXT:
            return Refused("too_long")
        return None


def _namespace(ticket: Ticket) -> tuple[str, str]:
    """Whom the attempt shares with, and what may be written down of it. The real gateway makes a keyed salt of it."""
    parts = (ticket.tenant, ticket.trust_class, ticket.acl_epoch)
    if ticket.cache == "off" or not all(parts):
        return ticket.attempt_id, "once"
    salt = json.dumps(parts)
    return salt, hashlib.sha256(salt.encode()).hexdigest()[:16]


def _account(
    answer: Answer, output: int, salt_id: str
) -> tuple[Usage, Phases, float | None, float | None, int, str, str, str]:
    """What every end of an attempt tells, in the order of the wire's fields."""
    usage = Usage(
        uncached=answer.prompt - answer.cached, cache_read=answer.cached, output=output, cache_write_5m=0, cache_write_1h=0,
        inclusive=answer.prompt,
    )  # fmt: skip
    phases = Phases(gateway_queue=0.0, engine_queue=0.0, prefill=0.001, decode=0.001)
    started = output > 0
    return (
        usage,
        phases,
        0.001 if started else None,
        0.0001 if output > 1 else None,
        0,
        REVISION,
        FINGERPRINT,
        salt_id,
    )
