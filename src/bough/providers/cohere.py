"""Cohere's Chat API, version 2."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.payload import at
from bough.model import Json
from bough.providers.api import Request, function_tools, piece
from bough.providers.types import Piece


class CohereApi:
    """`POST /chat`."""

    format = "cohere"
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
            "max_tokens": request.max_tokens,
            "stream": True,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        message, place = at(event, "delta", "message"), event.get("index")
        yield from piece("thinking", at(message, "tool_plan"))
        yield from piece("thinking", at(message, "content", "thinking"), place)
        yield from piece("text", at(message, "content", "text"), place)
        call = at(message, "tool_calls")
        yield from piece("call", at(call, "function", "name"), place, at(call, "id"))
        yield from piece("arguments", at(call, "function", "arguments"), place)

    def error(self, event: dict[str, Json]) -> Json:
        return at(event, "delta", "error")

    def ends(self, event: dict[str, Json]) -> bool:
        return event.get("type") == "message-end"
