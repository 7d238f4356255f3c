"""OpenAI's two APIs, Chat Completions and Responses, and compatible ones."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.servers import ServerDialect
from bough.model import Json
from bough.providers.api import Request, dicts, function_tools, piece
from bough.providers.types import Piece

_ENDS = {"response.completed", "response.incomplete"}
_TEXTS = {"response.output_text.delta", "response.refusal.delta"}
_THOUGHTS = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta"}
_ARGUMENTS = {"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"}
_CALLS = {"function_call", "custom_tool_call", "mcp_call"}
_WITHOUT_REASONING = ("gpt-3", "gpt-4", "chatgpt-4")
"""Models without reasoning, which refuse a request that includes it."""


class _OpenAIApi:
    def headers(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}


class ChatApi(_OpenAIApi):
    """`POST /chat/completions`."""

    format = "openai.chat"
    flavor = "chat"
    path = "chat/completions"

    def __init__(self, server: ServerDialect | None = None) -> None:
        self._limit = server.max_tokens if server else "max_tokens"
        """Field of the token limit. OpenAI has renamed it; compatible servers accept only the old name."""
        self._counts = server is None or server.usage_option

    def body(self, request: Request) -> dict[str, Json]:
        system = [{"role": "system", "content": request.instructions}] if request.instructions else []
        return {
            "model": request.model,
            "messages": [*system, *request.messages],
            "tools": function_tools(request) or None,
            self._limit: request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True} if self._counts else None,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        for choice in dicts(event.get("choices")):
            delta = choice.get("delta") or {}
            yield from piece("thinking", delta.get("reasoning_content") or delta.get("reasoning"))
            yield from piece("text", delta.get("content"))
            yield from piece("text", delta.get("refusal"))
            for call in dicts(delta.get("tool_calls")):
                made, place = call.get("function") or call.get("custom") or {}, call.get("index")
                yield from piece("call", made.get("name"), place, call.get("id"))
                yield from piece("arguments", made.get("arguments") or made.get("input"), place)

    def error(self, event: dict[str, Json]) -> Json:
        return event.get("error")

    def ends(self, event: dict[str, Json]) -> bool:
        return any(choice.get("finish_reason") for choice in dicts(event.get("choices")))


class ResponsesApi(_OpenAIApi):
    """`POST /responses`. Nothing is stored at the provider, because bough sends the whole dialog."""

    format = "openai.responses"
    flavor = "responses"
    path = "responses"

    def body(self, request: Request) -> dict[str, Json]:
        tools = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters}
            for t in request.tools
        ]
        reasons = not request.model.startswith(_WITHOUT_REASONING)
        return {
            "model": request.model,
            "input": request.messages,
            "instructions": request.instructions,
            "tools": tools or None,
            "max_output_tokens": request.max_tokens,
            "store": False,
            "include": ["reasoning.encrypted_content"] if reasons else None,
            "stream": True,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        kind, place = event.get("type"), event.get("output_index")
        if kind in _TEXTS:
            yield from piece("text", event.get("delta"), place)
        elif kind in _THOUGHTS:
            yield from piece("thinking", event.get("delta"), place)
        elif kind in _ARGUMENTS:
            yield from piece("arguments", event.get("delta"), place)
        elif kind == "response.output_item.added":
            item = event.get("item") or {}
            name = item.get("name") if item.get("type") in _CALLS else None
            yield from piece("call", name, place, item.get("call_id"))

    def error(self, event: dict[str, Json]) -> Json:
        match event.get("type"):
            case "error":
                return event.get("error") or event
            case "response.failed":
                return (event.get("response") or {}).get("error") or "the response failed"
        return event.get("error")

    def ends(self, event: dict[str, Json]) -> bool:
        return event.get("type") in _ENDS
