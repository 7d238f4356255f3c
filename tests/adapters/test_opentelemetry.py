"""GenAI spans of a session, and sessions of GenAI spans."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Status, StatusCode

import bough
from bough import Usage, assistant, tool_call, tool_result, user
from bough.adapters.opentelemetry import BoughSpanExporter, emit
from bough.adapters.opentelemetry.parts import wire_of

DIALOG = [
    user("How is it?"),
    assistant(tool_call("c", "look", {"at": "sea"})),
    tool_result("c", "calm"),
    assistant("Calm."),
]


def test_spans_of_a_session_are_the_same_session_in_another_store_however_often_they_come() -> None:
    with bough.connect(":memory:") as source, bough.connect(":memory:") as target:
        session = source.session("s")
        session.append(DIALOG, model="gpt-5-mini", usage=[Usage(1, 2), Usage(3, 4)])
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(BoughSpanExporter(store=target)))
        assert [emit(session, provider.get_tracer("test")) for _ in range(2)] == [2, 2]
        copy = target.session("s")
        assert [(node.role, node.message.text) for node in copy.path()] == [
            (node.role, node.message.text) for node in session.path()
        ]
        (total,) = copy.usage(by="model")
        assert (total.name, total.usage.input_tokens, total.usage.output_tokens) == ("gpt-5-mini", 4, 6)
        provider.shutdown()


def test_a_span_with_an_error_is_a_failed_turn_and_other_spans_are_left_out() -> None:
    with bough.connect(":memory:") as store:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(BoughSpanExporter(store=store)))
        tracer = provider.get_tracer("test")
        told = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s"}
        with tracer.start_as_current_span("chat") as span:
            span.set_attributes({**told, "gen_ai.input.messages": wire_of(DIALOG[:1])})
            span.set_status(Status(StatusCode.ERROR, "overloaded"))
        with tracer.start_as_current_span("a query"):
            pass
        (turn,) = store.session("s").turns()
        assert (turn.status, turn.error) == ("failed", "overloaded")
        assert store.size().sessions == 1
        provider.shutdown()
