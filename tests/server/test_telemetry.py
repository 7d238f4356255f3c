"""Spans follow the GenAI conventions and have no content."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bough import Usage
from bough.server import telemetry


def test_a_reply_is_a_span_of_the_conventions() -> None:
    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    trace.set_tracer_provider(provider)
    telemetry.tracer.cache_clear()
    more = {"gen_ai.response.id": "resp_1", "gen_ai.conversation.id": None}
    telemetry.report(provider="openai", model="m-1", usage=Usage(3, 4, 1, None, None), started_at=5_000_000, **more)
    telemetry.report(provider="gemini", model="g", usage=Usage(), started_at=1, error="rate_limit_exceeded")
    first, second = exported.get_finished_spans()
    assert (first.name, first.kind, first.start_time) == ("chat m-1", trace.SpanKind.CLIENT, 5_000_000_000)
    assert dict(first.attributes or {}) == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4, "gen_ai.usage.cache_read.input_tokens": 1,
        "gen_ai.response.id": "resp_1",
    }  # fmt: skip
    assert (second.attributes or {})["gen_ai.provider.name"] == "gcp.gemini"
    assert not second.status.is_ok
