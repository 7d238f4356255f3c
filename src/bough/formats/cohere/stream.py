"""Assemble a reply of Cohere from its stream."""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.payload import as_dict, as_text, at, plain, position
from bough.model import Json

_GROWING = ("text", "thinking", "arguments")
_LISTS = ("content", "tool_calls", "citations")


class CohereStream:
    """Accumulates the events `message-start` to `message-end`."""

    def __init__(self) -> None:
        self._reply: dict[str, Json] = {}
        self._message: dict[str, Json] = {"role": "assistant"}
        self._lists: dict[str, dict[int, Json]] = {key: {} for key in _LISTS}
        self._open_calls: set[int] = set()

    def feed(self, event: Json) -> None:
        event = as_dict(plain(event), "An event")
        kind, delta = as_text(event.get("type"), "event.type"), at(event, "delta")
        match kind:
            case "message-start":
                self._reply["id"] = event.get("id")
            case "message-end":
                self._end(as_dict(delta or {}, "event.delta"))
            case "tool-call-start":
                self._open_calls.add(position(event, "index"))
            case "tool-call-end":
                self._open_calls.discard(position(event, "index"))
        for key, value in as_dict(at(delta, "message") or {}, "event.delta.message").items():
            if key in self._lists and isinstance(value, dict):
                place = position(event, "index")
                self._lists[key][place] = _grown(self._lists[key].get(place), value)
            elif key == "tool_plan" and isinstance(value, str):
                self._message[key] = self._message.get(key, "") + value

    def _end(self, delta: dict[str, Json]) -> None:
        if delta.get("error"):
            raise FormatError(f"The stream reported an error: {delta['error']}")
        self._reply.update(delta)

    def reply(self) -> dict[str, Json]:
        """The reply so far. A call with incomplete arguments is left out, because it must not be run."""
        whole = {
            key: [items[place] for place in sorted(items) if key != "tool_calls" or place not in self._open_calls]
            for key, items in self._lists.items()
        }
        message = {key: value for key, value in self._message.items() if value != ""}
        return {**self._reply, "message": {**message, **{key: items for key, items in whole.items() if items}}}


def _grown(known: Json, more: dict[str, Json]) -> dict[str, Json]:
    """An item with a piece of it: texts and arguments grow, everything else is whole."""
    grown = dict(known) if isinstance(known, dict) else {}
    for key, value in more.items():
        if isinstance(value, dict):
            grown[key] = _grown(grown.get(key), value)
        elif key in _GROWING and isinstance(value, str):
            grown[key] = (grown.get(key) or "") + value
        else:
            grown[key] = value
    return grown
