"""Spans of the replies in a session, for a backend of traces."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import SpanKind

from bough.adapters.opentelemetry.parts import wire_of
from bough.model import ReplyInfo
from bough.session import Session


def emit(session: Session, tracer: Any) -> int:
    """Emits a GenAI span for each reply of a session whose model or usage is known, oldest first; their number."""
    store = session.store
    found = [reply for reply in reversed(session.replies()) if reply.message_id is not None]
    for reply in found:
        path = [node.message for node in store.path(reply.message_id)]
        started = reply.started_at or reply.finished_at
        span = tracer.start_span(
            f"chat {reply.model or ''}".strip(),
            kind=SpanKind.CLIENT,
            start_time=started * 1000,
            attributes=attributes(session, reply)
            | {"gen_ai.input.messages": wire_of(path[:-1]), "gen_ai.output.messages": wire_of(path[-1:])},
        )
        span.end(reply.finished_at * 1000)
    return len(found)


def attributes(session: Session, reply: ReplyInfo) -> dict[str, Any]:
    """What is known of a reply, by the names of the semantic conventions."""
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": session.key,
        "gen_ai.provider.name": reply.provider,
        "gen_ai.request.model": reply.model,
        "gen_ai.response.model": reply.model,
        "gen_ai.response.id": reply.request_id,
        "gen_ai.usage.input_tokens": reply.usage.input_tokens,
        "gen_ai.usage.output_tokens": reply.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": reply.usage.cached_tokens,
    }
    return {name: known for name, known in told.items() if known is not None}
