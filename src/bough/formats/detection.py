"""Detect the format of a payload by keys and types that only one format has."""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.payload import at, plain
from bough.model import ROLES, Json

_CHAT_KEYS = {"tool_calls", "tool_call_id", "function_call"}
_CHAT_PARTS = {"image_url", "input_audio", "file", "refusal"}
_RESPONSES_PARTS = {"input_text", "output_text", "input_image", "input_file"}
_ANTHROPIC_BLOCKS = {
    "thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use", "web_search_tool_result",
    "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_use", "mcp_tool_result", "image", "document",
    "search_result", "container_upload", "tool_addition", "tool_removal", "fallback",
}  # fmt: skip
"""Types of content blocks, which are no items of the Responses API."""
_BEDROCK_KEYS = {
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "citationsContent",
    "cachePoint",
    "guardContent",
    "searchResult",
}


def detect(payload: Json) -> str | None:
    try:
        payload = plain(payload)
    except FormatError:
        return None
    if isinstance(payload, dict):
        return _reply(payload) or _message(payload)
    if not isinstance(payload, list):
        return None
    items = [item for item in payload if isinstance(item, dict)]
    if any(item.keys() & _CHAT_KEYS for item in items):
        return "openai.chat"
    found = [_message(item) for item in items]
    # A message with plain text matches several formats; any more specific message decides.
    specific = [name for name in found if name not in (None, "openai.chat")]
    return specific[0] if specific else "openai.chat" if "openai.chat" in found else None


def _reply(payload: dict[str, Json]) -> str | None:
    """Format of a whole reply, or of a Q Developer conversation state."""
    if isinstance(payload.get("choices"), list):
        return "openai.chat"
    if payload.get("object") == "list" and isinstance(payload.get("data"), list):
        return "openai.responses" if detect(payload["data"]) in ("openai.responses", "openai.chat") else None
    if isinstance(payload.get("output"), list) and "type" not in payload:
        return "openai.responses"
    if isinstance(at(payload, "output", "message"), dict):
        return "bedrock"
    if "candidates" in payload or "promptFeedback" in payload:
        return "gemini"
    if payload.get("type") == "message" and "stop_reason" in payload:
        return "anthropic"
    if payload.keys() & {"conversationState", "currentMessage"}:
        return "qdeveloper"
    return None


def _message(item: dict[str, Json]) -> str | None:
    """Format of one message or item of a request."""
    if item.keys() & {"userInputMessage", "assistantResponseMessage"}:
        return "qdeveloper"
    if isinstance(item.get("blocks"), list) and item.get("role") in ROLES:
        return "bough.jsonl"
    if isinstance(item.get("parts"), list):
        return "gemini"
    if isinstance(item.get("type"), str) and "role" not in item:
        return "anthropic" if item["type"] in _ANTHROPIC_BLOCKS or item["type"] == "text" else "openai.responses"
    if isinstance(item.get("type"), str):
        return "openai.responses"
    if item.keys() & _CHAT_KEYS:
        return "openai.chat"
    return _content(item) if isinstance(item.get("role"), str) else None


def _content(item: dict[str, Json]) -> str | None:
    content = item.get("content")
    if not isinstance(content, list):
        return "openai.chat"
    parts = [part for part in content if isinstance(part, dict)]
    types = {str(part["type"]) for part in parts if "type" in part}
    if types & _RESPONSES_PARTS:
        return "openai.responses"
    if types & _CHAT_PARTS:
        return "openai.chat"
    if any(part.keys() & _BEDROCK_KEYS and "type" not in part for part in parts):
        return "bedrock"
    return "openai.chat" if types <= {"text"} and not any("cache_control" in part for part in parts) else "anthropic"
