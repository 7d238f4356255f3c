"""Assemble a reply of Ollama from its stream of partial replies."""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.payload import as_dict, plain
from bough.model import Json


class OllamaStream:
    """Accumulates the objects of a stream; each has a piece of the message, the last one the counts."""

    def __init__(self) -> None:
        self._reply: dict[str, Json] = {}
        self._message: dict[str, Json] = {"role": "assistant", "content": ""}

    def feed(self, event: Json) -> None:
        chunk = as_dict(plain(event), "A chunk")
        if chunk.get("error"):
            raise FormatError(f"The stream reported an error: {chunk['error']}")
        self._reply.update({key: value for key, value in chunk.items() if key != "message"})
        for key, value in as_dict(chunk.get("message") or {}, "chunk.message").items():
            known = self._message.get(key)
            if isinstance(value, str) and isinstance(known, str) and key != "role":
                self._message[key] = known + value
            elif isinstance(value, list) and isinstance(known, list):
                self._message[key] = [*known, *value]
            elif value is not None and value != "":
                self._message[key] = value

    def reply(self) -> dict[str, Json]:
        return {**self._reply, "message": dict(self._message)}
