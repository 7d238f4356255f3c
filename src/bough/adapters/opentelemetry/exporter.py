"""An exporter of OpenTelemetry that stores the calls of models in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

from bough.adapters.calls import ModelCall, record
from bough.adapters.common import key_of, open_store, priced
from bough.adapters.opentelemetry.parts import messages_of
from bough.errors import BoughError
from bough.model import Usage
from bough.store import Store

if TYPE_CHECKING:
    from bough.db import StrPath

CALLS = ("chat", "text_completion", "generate_content")


class BoughSpanExporter(SpanExporter):
    """Stores GenAI spans of calls that have their messages as attributes; other spans are left out.

    A call belongs to the session of its `gen_ai.conversation.id`, or else of its trace. A span that is exported again
    is not stored again. `where` and `store` are as in the other adapters.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None) -> None:
        self.store, self._owned = open_store(where, store)

    def export(self, spans: Sequence[Any]) -> Any:
        """Stores spans; a failure says that not all of them could be stored."""
        try:
            for span in sorted(spans, key=lambda span: span.start_time or 0):
                self._store_span(span)
        except BoughError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002
        """Does nothing: a span is stored when `export` returns."""
        return True

    def _store_span(self, span: Any) -> None:
        told: Mapping[str, Any] = span.attributes or {}
        if told.get("gen_ai.operation.name") not in CALLS or "gen_ai.input.messages" not in told:
            return
        trace = f"otel:{span.context.trace_id:032x}"
        session = self.store.session(key_of(told.get("gen_ai.conversation.id") or trace))
        record(session, call_of(span, told))


def call_of(span: Any, told: Mapping[str, Any]) -> ModelCall:
    """The call of a model that a span is about."""
    failed = span.status.status_code == StatusCode.ERROR
    model, provider = (
        told.get("gen_ai.response.model") or told.get("gen_ai.request.model"),
        told.get("gen_ai.provider.name"),
    )
    sent, received = told.get("gen_ai.usage.input_tokens"), told.get("gen_ai.usage.output_tokens")
    usage = priced(Usage(sent, received, told.get("gen_ai.usage.cache_read.input_tokens")), model, provider)
    return ModelCall(
        [message for message in messages_of(told["gen_ai.input.messages"]) if message.role != "system"],
        None if failed else messages_of(told.get("gen_ai.output.messages")),
        (span.status.description or "The call failed.") if failed else None,
        model,
        provider,
        told.get("gen_ai.response.id"),
        usage,
    )
