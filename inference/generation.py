"""Stage 9: sends one ticket to the gateway, listens, and says what came back. It never decides what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol, cast

from django.utils.translation import gettext as _

from inference import spans
from inference.errors import BadUsage, Draining, EngineDown, PromiseMissed, QueueFull
from inference.types import AttemptKind, Completion
from inference.usage import Usage
from inference.wire import (
    Aborted,
    Delta,
    Demoted,
    Done,
    Frame,
    Phases,
    Queued,
    Refused,
    Restart,
    Started,
    Ticket,
)

Observe = Callable[[Frame], None]


class Generator(Protocol):
    """The one thing that this stage asks of a gateway."""

    def generate(self, ticket: Ticket) -> Iterator[Frame]: ...


@dataclass(frozen=True, slots=True)
class Try:
    """Which attempt this is."""

    attempt_no: int
    kind: AttemptKind


def generate(
    gateway: Generator, ticket: Ticket, this: Try, observe: Observe
) -> tuple[Completion | Demoted, Started | None]:
    """One attempt, to its end, or that it shall be made later. `observe` hears every frame.

    Raises EngineDown, Draining, QueueFull or PromiseMissed when nothing was computed and it may be asked again later,
    GatewayLost when the connection broke. A refusal that asking again cannot cure, and an end in the middle, are completions.
    """
    with spans.attempt(ticket, this.kind, this.attempt_no) as span:

        def hear(frame: Frame) -> None:
            span.heard(frame)
            observe(frame)

        done, started = _listen(gateway, ticket, this, hear)
        if isinstance(done, Completion):
            span.ended(done)
        return done, started


def _listen(
    gateway: Generator, ticket: Ticket, this: Try, observe: Observe
) -> tuple[Completion | Demoted, Started | None]:
    text: list[str] = []
    started: Started | None = None
    frames = gateway.generate(ticket)
    with closing(cast("Any", frames)):
        for frame in frames:
            observe(frame)
            if isinstance(frame, Started):
                started = frame
            elif isinstance(frame, Delta):
                text.append(frame.text)
            elif isinstance(frame, Restart):
                text.clear()
            elif isinstance(frame, Demoted):
                return frame, started
            elif isinstance(frame, Refused):
                return _refused(frame, ticket, this), started
            elif isinstance(frame, Done):
                return _done(frame, ticket, this), started
            elif isinstance(frame, Aborted):
                return _aborted(frame, ticket, this, "".join(text)), started
            elif not isinstance(frame, Queued):
                raise BadUsage(f"unexpected frame {frame.type}")
    raise EngineDown(_("The gateway ended the answer without a last word."))


def _refused(frame: Refused, ticket: Ticket, this: Try) -> Completion:
    if frame.retry_after is not None:
        if frame.reason == "queue_full":
            raise QueueFull(retry_after=frame.retry_after)
        if frame.reason == "predicted_miss":
            raise PromiseMissed(retry_after=frame.retry_after)
        if frame.reason == "draining":
            raise Draining(retry_after=frame.retry_after)
        raise EngineDown(retry_after=frame.retry_after, reason=frame.reason)
    return Completion(
        ticket.attempt_id,
        this.attempt_no,
        this.kind,
        "",
        "error",
        usage=Usage(uncached=0, cache_read=0, output=0),
        phases=Phases(),
        max_out=ticket.max_out,
        cause=frame.reason,
    )


def _done(frame: Done, ticket: Ticket, this: Try) -> Completion:
    return Completion(
        attempt_id=ticket.attempt_id,
        attempt_no=this.attempt_no,
        kind=this.kind,
        text=frame.text,
        finish=frame.finish,
        usage=frame.usage,
        phases=frame.phases,
        ttft=frame.ttft,
        tpot=frame.tpot,
        model_revision=frame.model_revision,
        engine_fingerprint=frame.engine_fingerprint,
        salt_id=frame.salt_id,
        requeues=frame.requeues,
        max_out=ticket.max_out,
        cause=frame.error or "",
    )


def _aborted(frame: Aborted, ticket: Ticket, this: Try, text: str) -> Completion:
    return Completion(
        attempt_id=ticket.attempt_id,
        attempt_no=this.attempt_no,
        kind=this.kind,
        text=text,
        finish="abort",
        usage=frame.usage,
        phases=frame.phases,
        ttft=frame.ttft,
        tpot=frame.tpot,
        model_revision=frame.model_revision,
        engine_fingerprint=frame.engine_fingerprint,
        salt_id=frame.salt_id,
        requeues=frame.requeues,
        max_out=ticket.max_out,
        cause=frame.cause,
        retryable=frame.retryable,
    )
