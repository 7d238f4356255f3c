"""Assemble a reply from Anthropic's stream."""

from __future__ import annotations

import json

from bough.errors import FormatError
from bough.formats.payload import as_dict, as_text, at, plain
from bough.model import Json

_GROWING = {"text_delta": "text", "thinking_delta": "thinking"}
_SET = {"signature_delta": "signature"}


class AnthropicStream:
    """Accumulates the events `message_start` to `message_stop`."""

    def __init__(self) -> None:
        self._reply: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._partial: dict[int, str] = {}

    def feed(self, event: Json) -> None:
        event = as_dict(plain(event), "An event")
        match as_text(event.get("type"), "event.type"):
            case "message_start":
                self._reply = dict(as_dict(event.get("message"), "message_start.message"))
            case "content_block_start":
                block = dict(as_dict(event.get("content_block"), "content_block"))
                self._blocks[_index(event)] = block
                if block.get("type") == "fallback" and (model := at(block, "to", "model")):
                    self._reply["model"] = model  # the one that answers from here on
            case "content_block_delta":
                self._grow(_index(event), as_dict(event.get("delta"), "content_block_delta.delta"))
            case "content_block_stop":
                self._close(_index(event))
            case "message_delta":
                self._finish(event)
            case "error":
                raise FormatError(f"The stream reported an error: {event.get('error')}")

    def reply(self) -> dict[str, Json]:
        """The reply so far. A call with incomplete input is left out, because it must not be run."""
        blocks = [self._blocks[index] for index in sorted(self._blocks) if index not in self._partial]
        return {**self._reply, "content": blocks}

    def _grow(self, index: int, delta: dict[str, Json]) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise FormatError(f"The stream continues block {index}, which it never started.")
        kind = str(delta.get("type"))
        if key := _GROWING.get(kind):
            block[key] = (block.get(key) or "") + as_text(delta.get(key), f"{kind}.{key}")
        elif key := _SET.get(kind):
            block[key] = delta.get(key)
        elif kind == "input_json_delta":
            self._partial[index] = self._partial.get(index, "") + as_text(delta.get("partial_json"), kind)
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
        else:
            # A delta of an unknown type: its fields belong to the block.
            block.update({key: value for key, value in delta.items() if key != "type"})

    def _close(self, index: int) -> None:
        """Parse the input of a complete block, which was streamed as JSON text."""
        text = self._partial.pop(index, "")
        if text:
            try:
                self._blocks[index]["input"] = json.loads(text)
            except ValueError as error:
                raise FormatError(f"The input of block {index} is not JSON: {error}.") from None

    def _finish(self, event: dict[str, Json]) -> None:
        self._reply.update(as_dict(event.get("delta"), "message_delta.delta"))
        rest = {key: value for key, value in event.items() if key not in ("type", "delta", "usage")}
        self._reply.update(rest)
        # message_start counts the input and message_delta the output; a null must not overwrite a count.
        counts = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
        self._reply["usage"] = {**(self._reply.get("usage") or {}), **counts}


def _index(event: dict[str, Json]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise FormatError("An event about a block needs its index.")
    return index
