"""Rules of Chat Completions: 1, 2, 6 and 15 of docs/formats.md."""

from __future__ import annotations

from bough.formats.pairing import WireMessage, check_pairs, texts
from bough.formats.payload import request_list
from bough.formats.types import Violation
from bough.model import Json

MAX_CACHE_MARKERS = 4


def check(payload: Json) -> list[Violation]:
    _, messages = request_list(payload, "messages")
    found = check_pairs([_wire_message(index, message) for index, message in enumerate(messages)], grouped=False)
    return found + _check_empty(messages) + check_cache_markers(messages)


def _wire_message(index: int, message: dict[str, Json]) -> WireMessage:
    calls = message.get("tool_calls")
    made = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    results = [message.get("tool_call_id")] if message.get("role") == "tool" else []
    return WireMessage(index, str(message.get("role")), texts(made), texts(results))


def _check_empty(messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 6: a message without content needs calls, a refusal or audio."""
    alternatives = ("tool_calls", "function_call", "refusal", "audio")
    return [
        Violation(6, "a message with neither content nor calls", index)
        for index, message in enumerate(messages)
        if message.get("content") is None and not any(message.get(key) for key in alternatives)
    ]


def check_cache_markers(messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 15: the limit on cache breakpoints, which both of OpenAI's APIs have."""
    contents = (message.get("content") for message in messages)
    parts = [part for content in contents if isinstance(content, list) for part in content]
    markers = sum(1 for part in parts if isinstance(part, dict) and part.get("prompt_cache_breakpoint"))
    if markers > MAX_CACHE_MARKERS:
        return [Violation(15, f"{markers} cache breakpoints, and {MAX_CACHE_MARKERS} are allowed")]
    return []
