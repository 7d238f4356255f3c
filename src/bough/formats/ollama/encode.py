"""Encode messages as Ollama's messages."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.media import to_base64
from bough.formats.ollama.decode import FIELDS
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult


def encode_messages(messages: Sequence[Message], encoder: Encoder) -> list[Json]:
    wire: list[Json] = []
    for message in encoder.messages(messages):
        wire_message = _OllamaMessage(message, encoder)
        for block in encoder.blocks(message.blocks):
            if isinstance(block, ToolResult):
                wire.append(_result(block, encoder))
            else:
                wire_message.add(block)
        if not wire_message.is_empty() or message.role != "tool_result":
            wire.append(wire_message.message())
    return wire


class _OllamaMessage:
    """Collects the fields of a wire message of the user, the assistant or the system."""

    def __init__(self, message: Message, encoder: Encoder) -> None:
        shell = encoder.own(message.envelope)
        role = "user" if message.role == "tool_result" else message.role
        self._native = isinstance(shell, dict)
        self._shell: dict[str, Json] = shell if isinstance(shell, dict) else {"role": role, "content": ""}
        self._encoder = encoder
        self._fields: dict[str, list[Json]] = {field: [] for field in FIELDS}

    def add(self, block: Block) -> None:
        kept = self._encoder.own(block.raw)
        if kept is None:
            self._encoder.lose_marks(block)
        match block:
            case Text():
                self._add_text(block)
            case ToolCall():
                self._fields["tool_calls"].append(_call(block, self._encoder) if kept is None else kept)
            case Media(kind="image", data=bytes(data)) if data and (self._native or self._shell["role"] == "user"):
                self._fields["images"].append(to_base64(data))
            case Media():
                self._fields["content"].append(self._encoder.describe(block))
            case Thinking() if kept is not None:
                self._fields["thinking"].append(block.text)
            case Thinking():
                self._encoder.lose("dropped_thinking", "another model's reasoning")
            case Other():
                self._encoder.lose_other(block.type)

    def _add_text(self, block: Text) -> None:
        if self._fields["tool_calls"] and not self._native:
            self._encoder.lose("order_flattened", "text after a call")
        self._fields["content"].append(block.text)

    def is_empty(self) -> bool:
        return not any(self._fields.values())

    def message(self) -> dict[str, Json]:
        """The wire message: the shell with its fields filled in. Thinking that was removed is left out."""
        wire = {key: value for key, value in self._shell.items() if key != "thinking" or value is None}
        for field, values in self._fields.items():
            if values:
                wire[field] = values if field in ("images", "tool_calls") else "\n".join(values)
        return wire


def _call(call: ToolCall, encoder: Encoder) -> dict[str, Json]:
    """Encode a call of another family."""
    function = {"name": encoder.tool_name(call.name), "arguments": encoder.arguments(call)}
    return {"id": encoder.ids.call(call.call_id), "type": "function", "function": function}


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    kept: dict[str, Json] | None = encoder.own(result.raw)
    if kept is not None:
        return kept
    call = encoder.calls.get(result.call_id)
    item = encoder.own(call.raw) if call else None
    name = encoder.tool_name(call.name) if call and item is None else call.name if call else result.name
    wire: dict[str, Json] = {"role": "tool", "content": encoder.result_text(result)}
    if name:
        wire["tool_name"] = name
    if item is None or item.get("id"):  # a call without an id is answered by its tool's name
        wire["tool_call_id"] = encoder.ids.result(result.call_id)
    return wire
