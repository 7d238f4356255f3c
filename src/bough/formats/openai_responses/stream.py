"""Assemble a response from its stream.

The last event holds the whole response. Earlier events are used if the stream ends early, and for servers whose last
event lacks the output.
"""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.payload import as_dict, as_text, plain, position
from bough.model import Json

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class ResponsesStream:
    """Accumulates the events `response.created` to `response.completed`."""

    def __init__(self) -> None:
        self._response: dict[str, Json] = {}
        self._items: dict[int, dict[str, Json]] = {}

    def feed(self, event: Json) -> None:
        event = as_dict(plain(event), "An event")
        kind = as_text(event.get("type"), "event.type")
        match kind:
            case "error":
                raise FormatError(f"The stream reported an error: {event.get('message') or event.get('error')}")
            case "response.created" | "response.in_progress" | "response.queued":
                self._response = as_dict(event.get("response"), f"{kind}.response")
            case _ if kind in _ENDS:
                self._response = as_dict(event.get("response"), f"{kind}.response")
            case "response.output_item.added" | "response.output_item.done":
                self._items[position(event, "output_index")] = dict(as_dict(event.get("item"), f"{kind}.item"))
            case "response.content_part.added" | "response.content_part.done":
                _place(self._item(event), "content", position(event, "content_index"), event.get("part"))
            case "response.output_text.delta":
                self._grow_text(event)
            case "response.function_call_arguments.delta" | "response.mcp_call_arguments.delta":
                self._grow(event, "arguments")
            case "response.custom_tool_call_input.delta":
                self._grow(event, "input")

    def reply(self) -> dict[str, Json]:
        if self._response.get("output"):
            return dict(self._response)
        return {**self._response, "output": [self._items[index] for index in sorted(self._items)]}

    def _item(self, event: dict[str, Json]) -> dict[str, Json]:
        return self._items.setdefault(position(event, "output_index"), {})

    def _grow(self, event: dict[str, Json], key: str) -> None:
        item = self._item(event)
        item[key] = (item.get(key) or "") + as_text(event.get("delta"), "event.delta")

    def _grow_text(self, event: dict[str, Json]) -> None:
        index = position(event, "content_index")
        content = self._item(event).setdefault("content", [])
        fresh: dict[str, Json] = {"type": "output_text", "text": "", "annotations": []}
        part = content[index] if index < len(content) else fresh
        grown = {**part, "text": part.get("text", "") + as_text(event.get("delta"), "event.delta")}
        _place(self._item(event), "content", index, grown)


def _place(item: dict[str, Json], key: str, index: int, part: Json) -> None:
    """Set a part at its index in a new list, because the old one belongs to an event."""
    parts = list(item.get(key) or [])
    parts[index : index + 1] = [part]
    item[key] = parts
