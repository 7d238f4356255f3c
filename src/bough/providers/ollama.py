"""Ollama's own API."""

from __future__ import annotations

from collections.abc import Iterator

from bough.model import Json
from bough.providers.api import Request, dicts, function_tools, piece
from bough.providers.types import Piece


class OllamaApi:
    """`POST /chat`, whose stream is a JSON object per line."""

    format = "ollama"
    flavor = "default"
    path = "chat"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, request: Request) -> dict[str, Json]:
        system = [{"role": "system", "content": request.instructions}] if request.instructions else []
        return {
            "model": request.model,
            "messages": [*system, *request.messages],
            "tools": function_tools(request) or None,
            "options": {"num_predict": request.max_tokens} if request.max_tokens else None,
            "stream": True,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        message = event.get("message") or {}
        yield from piece("thinking", message.get("thinking"))
        yield from piece("text", message.get("content"))
        for call in dicts(message.get("tool_calls")):
            yield from piece("call", (call.get("function") or {}).get("name"), None, call.get("id"))

    def error(self, event: dict[str, Json]) -> Json:
        return event.get("error")

    def ends(self, event: dict[str, Json]) -> bool:
        return event.get("done") is True
