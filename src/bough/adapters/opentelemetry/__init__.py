"""OpenTelemetry: `TracerProvider.add_span_processor(BatchSpanProcessor(BoughSpanExporter("chat.db")))`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughSpanExporter", "emit"]

__getattr__ = on_use(__name__, {"BoughSpanExporter": "exporter", "emit": "emitter"}, "opentelemetry-sdk")
