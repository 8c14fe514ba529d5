"""What is told to OpenTelemetry, and under which names: the GenAI conventions at one version, all in this file.

A decision is one span, each stage and each attempt one inside it. Only codes, counts and times are told, never text, and never
who asked. Without an exporter all of this costs next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

import structlog
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from inference.types import AttemptKind, Completion
from inference.wire import Frame, Restart, Started, Ticket

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/0.1.0"  # all of it is in development: another version is another file
SCOPE = "nekibu.inference"
DECISION = "nekibu.decision"
OPERATION = "text_completion"  # prompts are sent as tokens, not as a chat
PROVIDER = "sglang"
STAGES = {
    "retrieve": "gen_ai.retrieval",
    "compress": "nekibu.compress",
    "route": "nekibu.route",
    "checks": "nekibu.check",
}
# What of a stage's payload is told beside its time: names and codes, and how many.
TOLD: Mapping[str, tuple[str, ...]] = {
    "retrieve": ("flags",),
    "compress": ("state", "reasons", "tokens_before", "tokens_after"),
    "route": ("tier", "reason"),
    "checks": ("verdict", "attempt_no", "claims", "supported", "findings"),
}
_current: ContextVar[Span | None] = ContextVar("decision_span", default=None)


def _tracer() -> Tracer:
    return trace.get_tracer(SCOPE, schema_url=SCHEMA_URL)


@contextmanager
def decision(task: str, version: int | None, mode: str) -> Iterator[None]:
    """One turn of work on a decision. Log lines within it carry its id from where it is known."""
    attributes: dict[str, Any] = {"gen_ai.prompt.name": task, "nekibu.decision.mode": mode}
    if version is not None:
        attributes["gen_ai.prompt.version"] = str(version)
    with _tracer().start_as_current_span(DECISION, kind=SpanKind.INTERNAL, attributes=attributes) as span:
        token = _current.set(span)
        try:
            yield
        finally:
            _current.reset(token)
            structlog.contextvars.unbind_contextvars("decision_id")


def about(decision_id: UUID) -> None:
    """Say which decision this turn is about."""
    span = _current.get()
    if span is not None:
        span.set_attribute("nekibu.decision.id", str(decision_id))
        structlog.contextvars.bind_contextvars(decision_id=str(decision_id))


def rested(status: str, tier: str, risk: str, band: str) -> None:
    """Say where the decision came to rest in this turn."""
    span = _current.get()
    if span is None:
        return
    span.set_attributes(
        {"nekibu.decision.outcome": status, "nekibu.tier": tier, "nekibu.risk": risk, "nekibu.band": band}
    )
    if status == "failed":
        span.set_attribute("error.type", status)
        span.set_status(Status(StatusCode.ERROR))


def stage(name: str, seconds: float | None, payload: Mapping[str, Any]) -> None:
    """A stage that has just ended, where it is one that is told."""
    if name not in STAGES or _current.get() is None:
        return
    ended = time.time_ns()
    span = _tracer().start_span(STAGES[name], start_time=ended - int((seconds or 0.0) * 1e9))
    if name == "retrieve":
        span.set_attribute("gen_ai.operation.name", "retrieval")
        span.set_attribute("nekibu.pieces", len(payload.get("pieces", ())))
    held = payload.get("route", payload) if name == "route" else payload
    for key in TOLD[name]:
        value = held.get(key) if isinstance(held, Mapping) else getattr(held, key, None)
        if value not in (None, "", (), [], frozenset()):
            span.set_attribute(f"nekibu.{key}", _plain(value))
    span.end(end_time=ended)


class Attempt:
    """The span of one attempt while it runs."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def heard(self, frame: Frame) -> None:
        """Note what the gateway said: which model took it, and that it was handed over again."""
        if isinstance(frame, Started):
            model = frame.model.rstrip("/").rsplit("/", 1)[-1]
            self.span.update_name(f"{OPERATION} {model}")
            self.span.set_attribute("gen_ai.request.model", model)
        elif isinstance(frame, Restart):
            self.span.add_event("nekibu.requeue")

    def ended(self, done: Completion) -> None:
        """What came back. An abnormal end has the finish reason `error`; what was not reported is not told."""
        broken = done.finish in {"abort", "error"}
        usage = done.usage
        known = {
            "gen_ai.response.model": done.model_revision or None,
            "gen_ai.response.finish_reasons": ("error",) if broken else (done.finish,),
            "gen_ai.response.time_to_first_chunk": done.ttft,
            "gen_ai.usage.input_tokens": usage.input_total,
            "gen_ai.usage.output_tokens": usage.output,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
            "gen_ai.usage.cache_write.input_tokens": None
            if usage.cache_write_5m is None or usage.cache_write_1h is None
            else usage.cache_write_5m + usage.cache_write_1h,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
            "error.type": (done.cause or done.finish) if broken else None,
        }
        self.span.set_attributes({name: value for name, value in known.items() if value is not None})
        if broken:
            self.span.set_status(Status(StatusCode.ERROR))


@contextmanager
def attempt(ticket: Ticket, kind: AttemptKind, number: int) -> Iterator[Attempt]:
    """One attempt of a model: primary, repair, escalation or sample. What escapes it is its error."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.request.max_tokens": ticket.max_out,
        "gen_ai.request.temperature": ticket.temperature,
        "gen_ai.request.stream": True,
        "gen_ai.output.type": "json" if ticket.json_schema else "text",
        "nekibu.decision.id": ticket.decision_id,
        "nekibu.attempt.kind": kind,
        "nekibu.attempt.number": number,
        "nekibu.band": str(ticket.band),
    }
    with _tracer().start_as_current_span(
        OPERATION,
        kind=SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield Attempt(span)
        except Exception as broken:
            span.set_attribute("error.type", type(broken).__name__)
            span.set_attribute("gen_ai.response.finish_reasons", ("error",))
            span.set_status(Status(StatusCode.ERROR))
            raise


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset | set | tuple | list):
        return sorted(str(one) for one in value)
    return value if isinstance(value, bool | int | float) else str(value)
