"""Assemble a chat completion from its chunks."""

from __future__ import annotations

from bough.formats.payload import as_dict, as_list, optional_list, plain, position
from bough.model import Json

_GROWING = {
    "content", "refusal", "reasoning", "reasoning_content", "reasoning_text", "thinking", "text", "summary",
    "arguments", "input", "transcript", "data",
}  # fmt: skip
"""Strings that arrive in pieces. Any other is whole, and a stream may repeat it, or send it again as null or empty."""


class ChatStream:
    """Accumulates `chat.completion.chunk`s."""

    def __init__(self) -> None:
        self._rest: dict[str, Json] = {}
        self._choices: dict[int, dict[str, Json]] = {}

    def feed(self, event: Json) -> None:
        chunk = as_dict(plain(event), "A chunk")
        for key, value in chunk.items():
            if key not in ("choices", "object") and (_tells(value) or key not in self._rest):
                self._rest[key] = value
        for item in as_list(chunk.get("choices", []), "chunk.choices"):
            choice = as_dict(item, "chunk.choices[]")
            known = self._choices.setdefault(position(choice, "index"), {"message": {}})
            plain_fields = {key: value for key, value in choice.items() if key not in ("delta", "logprobs")}
            known.update({key: value for key, value in plain_fields.items() if _tells(value) or key not in known})
            if (logprobs := choice.get("logprobs")) is not None or "logprobs" not in known:
                _grow(known, {"logprobs": logprobs} if "logprobs" in choice else {})
            _grow(known["message"], _delta(choice))

    def reply(self) -> dict[str, Json]:
        choices = [_finished(self._choices[index]) for index in sorted(self._choices)]
        return {**self._rest, "object": "chat.completion", "choices": choices}


def _delta(choice: dict[str, Json]) -> dict[str, Json]:
    delta = as_dict(choice.get("delta") or {}, "chunk.choices[].delta")
    for call in optional_list(delta.get("tool_calls"), "delta.tool_calls"):
        as_dict(call, "delta.tool_calls[]")
    return delta


def _grow(target: dict[str, Json], delta: dict[str, Json]) -> None:
    for key, value in delta.items():
        known = target.get(key)
        if isinstance(value, list) and key != "annotations" and all(isinstance(part, dict) for part in value):
            target[key] = _grow_list(known or [], value)
        elif isinstance(value, dict) and isinstance(known, dict):
            _grow(known, value)
        elif isinstance(value, dict):
            target[key] = {}
            _grow(target[key], value)
        elif isinstance(value, str) and isinstance(known, str) and key in _GROWING:
            target[key] = known + value
        elif _tells(value) or key not in target:
            target[key] = value


def _tells(value: Json) -> bool:
    return value is not None and value != ""


def _grow_list(known: list[Json], pieces: list[Json]) -> list[Json]:
    """Merge pieces into the items at their index; a piece without an index is a new item."""
    for piece in pieces:
        if piece.get("index") is None:
            known.append(piece)
            continue
        place = position(piece, "index")
        while len(known) <= place:
            known.append({})
        _grow(known[place], piece)
    return known


def _finished(choice: dict[str, Json]) -> dict[str, Json]:
    """The choice without the indexes of calls, which only a stream has."""
    message = dict(choice["message"])
    if isinstance(calls := message.get("tool_calls"), list):
        message["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in calls]
    return {**choice, "message": message}
