"""What the application counts for Prometheus: decisions, phases, money and tokens, by what they were and never by whose.

Every process of an installation counts for itself; where `PROMETHEUS_MULTIPROC_DIR` is set, the web process tells them all.
Labels are the product, the task, the risk and the like: no company, no person, no document and no node of a workflow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from inference.metrics.phases import PARTS

if TYPE_CHECKING:
    from inference.models import Fact

REGISTRY = CollectorRegistry()
SLICE = ("product", "task", "risk", "band", "tier", "model", "cache")
BRIEF = ("product", "task", "band")
# The targets of the service classes are among the edges, so that a share of requests within one is exact.
SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
PER_TOKEN = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
TOKENS = (64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)

decisions = Counter("nekibu_decisions", "Decisions that were closed", [*SLICE, "outcome"], registry=REGISTRY)
phase = Histogram(
    "nekibu_phase_duration_seconds",
    "Time of a closed decision by phase",
    ["phase", *BRIEF],
    buckets=SECONDS,
    registry=REGISTRY,
)
cost = Counter(
    "nekibu_decision_cost",
    "Known cost of closed decisions",
    ["product", "task", "model", "currency"],
    registry=REGISTRY,
)
cost_unknown = Counter(
    "nekibu_decision_cost_unknown", "Attempts of closed decisions whose cost nobody knows", ["product", "task", "model"],
    registry=REGISTRY,
)  # fmt: skip
first_chunk = Histogram(
    "gen_ai_client_inference_time_to_first_chunk_seconds", "From the gateway's door to the first token", BRIEF,
    buckets=SECONDS, registry=REGISTRY,
)  # fmt: skip
per_chunk = Histogram(
    "gen_ai_client_inference_time_per_output_chunk_seconds", "Each token after the first", BRIEF, buckets=PER_TOKEN,
    registry=REGISTRY,
)  # fmt: skip
_USED = ["product", "task", "model", "cache"]
usage = {
    column: Counter(f"gen_ai_client_inference_usage_{name}", said, _USED, registry=REGISTRY)
    for column, name, said in (
        ("input_total", "input_tokens", "Input tokens, those from the cache included"),
        ("output", "output_tokens", "Output tokens"),
        ("cache_read", "cache_read_input_tokens", "Input tokens that were read from the cache"),
        (
            "cache_write_5m",
            "cache_write_5m_input_tokens",
            "Input tokens that were written to the cache for 5 minutes",
        ),
        (
            "cache_write_1h",
            "cache_write_1h_input_tokens",
            "Input tokens that were written to the cache for an hour",
        ),
        ("reasoning", "reasoning_output_tokens", "Output tokens of reasoning"),
    )
}
operation = {
    column: Histogram(
        f"gen_ai_client_inference_operation_{name}", said, _USED, buckets=TOKENS, registry=REGISTRY
    )
    for column, name, said in (
        ("input_total", "input_tokens", "Input tokens of a request"),
        ("output", "output_tokens", "Output tokens of a request"),
    )
}


def closed(facts: Sequence[tuple[Mapping[str, str], Fact]]) -> None:
    """Count the facts of decisions that have just been closed, each with the values of its slice."""
    for held, fact in facts:
        brief = {name: held[name] for name in BRIEF}
        used = {name: held[name] for name in _USED}
        if fact.closing:
            decisions.labels(**{name: held[name] for name in SLICE}, outcome=fact.status).inc()
            for name in PARTS:
                seconds = getattr(fact, name)
                if seconds is not None:
                    phase.labels(phase=name, **brief).observe(max(seconds, 0.0))
        if fact.cost_amount is not None and fact.cost_currency:
            cost.labels(
                product=held["product"], task=held["task"], model=held["model"], currency=fact.cost_currency
            ).inc(float(fact.cost_amount))
        elif fact.cost_state == "unknown":
            cost_unknown.labels(product=held["product"], task=held["task"], model=held["model"]).inc()
        if fact.ttft is not None:
            first_chunk.labels(**brief).observe(fact.ttft)
        if fact.tpot is not None:
            per_chunk.labels(**brief).observe(fact.tpot)
        for column, counter in usage.items():
            tokens = getattr(fact, column)
            if tokens:
                counter.labels(**used).inc(tokens)
        for column, histogram in operation.items():
            tokens = getattr(fact, column)
            if tokens is not None:
                histogram.labels(**used).observe(tokens)


def told() -> bytes:
    """Everything in the text format of Prometheus: of this process, or of all of the installation."""
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        return generate_latest(REGISTRY)
    every = CollectorRegistry()
    MultiProcessCollector(every)  # type: ignore[no-untyped-call]
    return generate_latest(every)
