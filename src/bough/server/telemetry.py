"""Spans of OpenTelemetry's GenAI conventions for replies, without content; nothing where the API is not installed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.model import Usage

PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai"}
"""Names of providers that the conventions spell otherwise."""


@lru_cache(maxsize=1)
def tracer() -> Any:
    """The tracer, or None without `opentelemetry-api`."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("bough.server")


def report(
    *, provider: str, model: str, usage: Usage, started_at: int, error: str | None = None, **attributes: str | None
) -> None:
    """One reply as a span that has just ended. `started_at` is in microseconds since 1970."""
    made = tracer()
    if made is None:
        return
    from opentelemetry.trace import SpanKind, StatusCode

    span = made.start_span(f"chat {model}", kind=SpanKind.CLIENT, start_time=started_at * 1000)
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "error.type": error,
        **attributes,
    }
    span.set_attributes({name: one for name, one in found.items() if one is not None})
    if error is not None:
        span.set_status(StatusCode.ERROR)
    span.end()
