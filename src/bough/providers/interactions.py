"""Google's Interactions API."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.payload import at
from bough.model import Json
from bough.providers.api import Request, piece
from bough.providers.types import Piece

_ENDS = ("interaction.completed", "interaction.complete")


class InteractionsApi:
    """`POST /interactions`. Nothing is stored at the provider, because bough sends the whole dialog."""

    format = "gemini.interactions"
    flavor = "default"
    path = "interactions"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def body(self, request: Request) -> dict[str, Json]:
        tools = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters}
            for t in request.tools
        ]
        return {
            "model": request.model,
            "input": request.messages,
            "system_instruction": request.instructions,
            "tools": tools or None,
            "generation_config": {"max_output_tokens": request.max_tokens} if request.max_tokens else None,
            "store": False,
            "stream": True,
        }

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        place, delta, step = event.get("index"), event.get("delta"), event.get("step")
        match at(delta, "type"):
            case "text":
                yield from piece("text", at(delta, "text"), place)
            case "thought_summary":
                yield from piece("thinking", at(delta, "content", "text"), place)
            case "arguments_delta":
                yield from piece("arguments", at(delta, "arguments"), place)
        if at(step, "type") == "function_call":
            yield from piece("call", at(step, "name"), place, at(step, "id"))

    def error(self, event: dict[str, Json]) -> Json:
        return (event.get("error") or "an error without a message") if event.get("event_type") == "error" else None

    def ends(self, event: dict[str, Json]) -> bool:
        return event.get("event_type") in _ENDS
