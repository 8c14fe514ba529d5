"""What is told of a decision: spans under the names of the GenAI conventions, and counters that name nobody."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from structlog.contextvars import get_contextvars

from inference import measures
from inference.errors import GatewayLost
from inference.ledger import keeping
from nekibu.tenants.scope import tenant_scope
from tests.integration.inference.test_accounts import MET, done

GOLDEN = {
    "nekibu.decision": {
        "parent": None,
        "kind": "INTERNAL",
        "attributes": {
            "gen_ai.prompt.name", "nekibu.decision.mode", "nekibu.decision.id", "nekibu.decision.outcome",
            "nekibu.tier", "nekibu.risk", "nekibu.band",
        },
    },
    "gen_ai.retrieval": {
        "parent": "nekibu.decision",
        "kind": "INTERNAL",
        "attributes": {"gen_ai.operation.name", "nekibu.pieces"},
    },
    "nekibu.compress": {
        "parent": "nekibu.decision",
        "kind": "INTERNAL",
        "attributes": {"nekibu.state", "nekibu.reasons", "nekibu.tokens_before", "nekibu.tokens_after"},
    },
    "nekibu.route": {
        "parent": "nekibu.decision",
        "kind": "INTERNAL",
        "attributes": {"nekibu.tier", "nekibu.reason"},
    },
    "text_completion nekibu-fake": {
        "parent": "nekibu.decision",
        "kind": "CLIENT",
        "attributes": {
            "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.max_tokens", "gen_ai.request.temperature",
            "gen_ai.request.stream", "gen_ai.request.model", "gen_ai.output.type", "gen_ai.response.model",
            "gen_ai.response.finish_reasons", "gen_ai.response.time_to_first_chunk", "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_write.input_tokens",
            "nekibu.decision.id", "nekibu.attempt.kind", "nekibu.attempt.number", "nekibu.band",
        },
    },
    "nekibu.check": {
        "parent": "nekibu.decision",
        "kind": "INTERNAL",
        "attributes": {"nekibu.verdict", "nekibu.attempt_no", "nekibu.claims", "nekibu.supported"},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def exporter():
    """Spans in memory. A process has one provider, so it stays for the rest of this file."""
    held = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(held))
    trace.set_tracer_provider(provider)
    return held


@pytest.fixture
def spans(exporter):
    """`spans()` → what was told in this test, by id."""
    exporter.clear()
    return exporter.get_finished_spans


def test_a_decision_and_its_stages_are_told_under_the_agreed_names(ask, spans):
    outcome = ask()
    told = spans()
    by_id = {span.context.span_id: span for span in told}
    found = {
        span.name: {
            "parent": by_id[span.parent.span_id].name if span.parent else None,
            "kind": span.kind.name,
            "attributes": set(span.attributes),
        }
        for span in told
    }
    assert found == GOLDEN
    assert len(told) == len(GOLDEN)
    assert {span.instrumentation_scope.schema_url for span in told} == {
        "https://opentelemetry.io/schemas/gen-ai/0.1.0"
    }
    decision = next(span for span in told if span.name == "nekibu.decision")
    assert decision.attributes["nekibu.decision.id"] == str(outcome.decision_id)
    assert decision.attributes["nekibu.decision.outcome"] == "accepted"
    attempt = next(span for span in told if span.kind.name == "CLIENT")
    assert attempt.attributes["gen_ai.provider.name"] == "sglang"
    assert attempt.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert all(decision.start_time <= span.start_time and span.end_time <= decision.end_time for span in told)
    assert get_contextvars().get("decision_id") is None


def test_an_abnormal_end_has_the_finish_reason_error_and_its_kind(ask, gateway, spans):
    gateway.stumbles = [GatewayLost(), done(MET)]
    ask()
    attempts = [span for span in spans() if span.kind.name == "CLIENT"]
    assert [span.attributes["gen_ai.response.finish_reasons"] for span in attempts] == [("error",), ("stop",)]
    assert attempts[0].attributes["error.type"] == "GatewayLost"
    assert not attempts[0].status.is_ok and attempts[1].status.is_ok


def test_no_span_says_what_was_asked_or_who_asked(ask, spans, tenant):
    ask()
    said = json.dumps([dict(span.attributes) for span in spans()], default=str)
    assert "Python" not in said
    assert str(tenant.id) not in said
    assert not re.search(r"messages|subject|actor|tenant|user", said)


# --- counters ------------------------------------------------------------------------------------------------------

NAMED = {
    "product", "task", "risk", "band", "tier", "model", "cache", "outcome", "phase", "currency", "le",
}  # fmt: skip


def counted(name, **labels):
    """The sum of a series' values under these labels."""
    families = text_string_to_metric_families(measures.told().decode())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_a_decision_is_counted_once_when_it_is_closed_and_not_again(ask, gateway, tenant, lines):
    gateway.stumbles = [done(MET)]
    outcome = ask()
    named = {"task": lines.slug}
    assert counted("nekibu_decisions_total", **named) == 0
    with tenant_scope(tenant.id):
        keeping.keep_up()
    assert counted("nekibu_decisions_total", outcome="accepted", **named) == 1
    assert counted("gen_ai_client_inference_usage_input_tokens_total", **named) == 120
    assert counted("gen_ai_client_inference_usage_cache_read_input_tokens_total", **named) == 20
    assert counted("gen_ai_client_inference_time_to_first_chunk_seconds_count", **named) == 1
    assert counted("nekibu_phase_duration_seconds_sum", phase="decode", **named) == pytest.approx(0.4)
    assert counted("nekibu_decision_cost_unknown_total", **named) == 1  # nobody stated a price
    with tenant_scope(tenant.id):
        keeping.all_due()
        keeping.keep_up()
    assert counted("nekibu_decisions_total", **named) == 1
    assert outcome.status == "accepted"


def test_what_waits_for_a_person_is_not_counted_as_closed(ask, gateway, tenant, lines):
    lines.opt_out = True
    assert ask().status == "needs_person"
    with tenant_scope(tenant.id):
        keeping.keep_up()
    assert counted("nekibu_decisions_total", task=lines.slug) == 0


def test_no_label_names_a_company_a_person_or_a_document(ask, tenant):
    ask()
    with tenant_scope(tenant.id):
        keeping.keep_up()
    families = list(text_string_to_metric_families(measures.told().decode()))
    labels = {name for family in families for sample in family.samples for name in sample.labels}
    assert labels <= NAMED
    assert str(tenant.id) not in measures.told().decode()


def test_service_targets_are_bucket_edges():
    from inference.slo import CLASSES, DEV_TPOT_MS, DEV_TTFT_MS

    promised = {DEV_TTFT_MS / 1000, *(c.ttft_ms / 1000 for c in CLASSES.values() if c.ttft_ms),
                *(c.e2e_ms / 1000 for c in CLASSES.values() if c.e2e_ms)}  # fmt: skip
    assert promised <= set(measures.SECONDS)
    each = {DEV_TPOT_MS / 1000, *(c.tpot_ms / 1000 for c in CLASSES.values() if c.tpot_ms)}
    assert each <= set(measures.PER_TOKEN)


# --- who may read them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stranger",
    [
        {"REMOTE_ADDR": "10.0.0.9"},
        {"HTTP_X_FORWARDED_FOR": "10.0.0.9"},
        {"HTTP_FORWARDED": "for=10.0.0.9"},
        {"HTTP_HOST": "nekibu.example"},
    ],
    ids=["another machine", "through a proxy", "through another proxy", "under a public name"],
)
def test_a_stranger_finds_no_metrics_and_this_machine_does(db, stranger):
    here = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost:8000"}
    assert Client().get("/metrics", **here).status_code == 200
    assert Client().get("/metrics", **{**here, **stranger}).status_code == 404


def test_with_a_token_only_who_shows_it_reads_the_metrics(db, settings):
    settings.METRICS_TOKEN = "a-token-of-some-length"
    here = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost"}
    assert Client().get("/metrics", **here).status_code == 404
    wrong = Client().get("/metrics", **here, headers={"Authorization": "Bearer another"})
    assert wrong.status_code == 404
    right = Client().get(
        "/metrics", REMOTE_ADDR="10.0.0.9", headers={"Authorization": "Bearer a-token-of-some-length"}
    )
    assert right.status_code == 200
    assert "nekibu_decisions" in right.content.decode()
