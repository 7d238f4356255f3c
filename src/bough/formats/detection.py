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
_STEPS = {
    "user_input", "model_output", "thought", "function_result", "code_execution_result", "google_search_call",
    "google_search_result", "google_maps_call", "google_maps_result", "url_context_call", "url_context_result",
    "file_search_result", "mcp_server_tool_call", "mcp_server_tool_result", "retrieval_call", "retrieval_result",
    "processing_call", "processing_result",
}  # fmt: skip
"""Types of steps of an interaction, which no other API has."""


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
    if name := next((name for item in items if (name := _chat_like(item))), None):
        return name
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
    if payload.get("object") == "interaction" or ("status" in payload and _lists(payload, "steps", "outputs")):
        return "gemini.interactions"
    if isinstance(payload.get("message"), dict) and "type" not in payload:
        return "ollama" if "done" in payload else "cohere" if payload.keys() & {"finish_reason", "usage"} else None
    return None


def _lists(payload: dict[str, Json], *keys: str) -> bool:
    return any(isinstance(payload.get(key), list) for key in keys)


def _chat_like(item: dict[str, Json]) -> str | None:
    """Cohere or Ollama, whose messages look like Chat's, by a field that Chat has not."""
    if "tool_plan" in item or (item.get("role") == "tool" and _has_part(item, "document")):
        return "cohere"
    images, calls = item.get("images"), item.get("tool_calls")
    if "tool_name" in item or (isinstance(images, list) and images and isinstance(images[0], str)):
        return "ollama" if "role" in item else None
    listed = calls if isinstance(calls, list) else []
    is_plain = all(isinstance(at(call, "function", "arguments"), dict) and not at(call, "type") for call in listed)
    return "ollama" if listed and is_plain else None


def _has_part(item: dict[str, Json], kind: str) -> bool:
    content = item.get("content")
    return isinstance(content, list) and any(at(part, "type") == kind for part in content)


def _message(item: dict[str, Json]) -> str | None:
    """Format of one message or item of a request."""
    if item.keys() & {"userInputMessage", "assistantResponseMessage"}:
        return "qdeveloper"
    if isinstance(item.get("blocks"), list) and item.get("role") in ROLES:
        return "bough.jsonl"
    if isinstance(item.get("parts"), list):
        return "gemini"
    if name := _chat_like(item):
        return name
    if isinstance(item.get("type"), str) and "role" not in item:
        if item["type"] in _STEPS or _is_step_like(item):
            return "gemini.interactions"
        return "anthropic" if item["type"] in _ANTHROPIC_BLOCKS or item["type"] == "text" else "openai.responses"
    if isinstance(item.get("type"), str):
        return "openai.responses"
    if item.get("role") == "model" and isinstance(item.get("content"), list):
        return "gemini.interactions"
    if item.keys() & _CHAT_KEYS:
        return "openai.chat"
    return _content(item) if isinstance(item.get("role"), str) else None


def _is_step_like(item: dict[str, Json]) -> bool:
    """Whether this is a call or content of an interaction, whose types other formats have too."""
    if item["type"] == "function_call":
        return "call_id" not in item and isinstance(item.get("arguments"), dict)
    return item["type"] in ("image", "audio", "video", "document") and "source" not in item and "data" in item


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
