"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator

from bough.model import Json
from bough.providers.api import Request, piece
from bough.providers.types import Piece

VERSION = "2023-06-01"
MAX_TOKENS = 8192
"""Default token limit of a reply. The API requires one, and every current model allows this one."""
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}


class MessagesApi:
    """`POST /v1/messages`."""

    format = "anthropic"
    flavor = "default"
    path = "messages"

    def __init__(self, caches: bool = False) -> None:
        self._cache = {"type": "ephemeral"} if caches else None
        """Prompt caching, which only Anthropic's own server supports: the next request begins with this one."""

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, request: Request) -> dict[str, Json]:
        tools = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in request.tools]
        return {
            "model": request.model,
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "system": request.instructions,
            "messages": request.messages,
            "tools": tools or None,
            "cache_control": self._cache,
            "stream": True,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        if event.get("type") == "content_block_delta":
            delta, place = event.get("delta") or {}, event.get("index")
            yield from piece("thinking", delta.get("thinking"), place)
            yield from piece("text", delta.get("text"), place)
            yield from piece("arguments", delta.get("partial_json"), place)
        elif event.get("type") == "content_block_start":
            block = event.get("content_block") or {}
            name = block.get("name") if block.get("type") in _CALLS else None
            yield from piece("call", name, event.get("index"), block.get("id"))

    def error(self, event: dict[str, Json]) -> Json:
        return (event.get("error") or "an error without a message") if event.get("type") == "error" else None

    def ends(self, event: dict[str, Json]) -> bool:
        return event.get("type") == "message_stop"
