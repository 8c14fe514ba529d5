"""Where spans go: to a collector that the operator names, else nowhere. Which spans there are is said where they begin."""

from __future__ import annotations


def start(service: str, endpoint: str | None) -> None:
    """Send this process's spans over OTLP/HTTP in the background. Without an endpoint nothing is loaded and nothing is sent."""
    if endpoint is None:
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
