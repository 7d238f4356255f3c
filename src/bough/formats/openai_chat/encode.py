"""Encode messages as Chat messages."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.media import to_base64, to_url
from bough.formats.openai_chat.decode import IMAGES, LIFTED
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool_result": "user"}
AUDIO = {"audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3", "audio/x-wav": "wav"}


def encode_messages(messages: Sequence[Message], encoder: Encoder) -> list[Json]:
    wire: list[Json] = []
    for message in encoder.messages(messages):
        wire_message = _ChatMessage(message, encoder)
        for block in encoder.blocks(message.blocks):
            if isinstance(block, ToolResult):
                wire.append(_result(block, encoder))
            else:
                wire_message.add(block)
        if wire_message.is_needed(message):
            wire.append(wire_message.message())
    return wire


class _ChatMessage:
    """Collects the fields of a wire message of the user, the assistant or the system."""

    def __init__(self, message: Message, encoder: Encoder) -> None:
        shell = encoder.own(message.envelope)
        self._shell: dict[str, Json] = shell if isinstance(shell, dict) else {"role": ROLES[message.role]}
        self._native = isinstance(shell, dict)
        self._assistant = message.role == "assistant"
        self._encoder = encoder
        self._content: list[Json] = []
        self._plain = True
        self._calls: list[Json] = []
        self._lifted: dict[str, Json] = {}

    def add(self, block: Block) -> None:
        item = self._encoder.own(block.raw)
        if item is not None:
            self._keep(block, item)
            return
        self._encoder.lose_marks(block)
        match block:
            case Text():
                self._add_text(block)
            case ToolCall():
                self._calls.append(_call(block, self._encoder))
            case Media():
                self._add_media(block)
            case Thinking():
                self._encoder.lose("dropped_thinking", "another model's reasoning")
            case Other():
                self._encoder.lose_other(block.type)

    def is_needed(self, message: Message) -> bool:
        """Whether to emit a wire message; a message of tool results alone needs none of its own."""
        return self._native or bool(self._content or self._calls) or not message.results

    def message(self) -> dict[str, Json]:
        """The wire message: the shell with its fields filled in. A field whose block was removed is left out."""
        wire = {
            key: self._lifted.get(key, value)
            for key, value in self._shell.items()
            if key in self._lifted or value != LIFTED.get(key, ...)
        }
        wire |= self._lifted
        if self._content or not self._native:
            wire["content"] = self._wire_content()
        if self._calls:
            wire["tool_calls"] = self._calls
        return wire

    def _wire_content(self) -> Json:
        """The content in its received shape; else a string for one text, and null for calls without text."""
        shape = self._shell.get("content")
        if isinstance(shape, list) or len(self._content) > 1 or not self._plain:
            return self._content
        text = self._content[0]["text"] if self._content else ""
        return None if not text and self._calls and shape is None else text

    def _keep(self, block: Block, item: dict[str, Json]) -> None:
        if isinstance(block, ToolCall) and "function_call" not in item:
            self._encoder.ids.keep(block.call_id)
            self._calls.append(item)
        elif "type" in item:
            self._plain = False
            self._content.append(item)
        elif IMAGES in item:
            self._lifted[IMAGES] = [*self._lifted.get(IMAGES, ()), *item[IMAGES]]
        else:
            self._lifted |= item

    def _add_text(self, block: Text) -> None:
        if self._calls and not self._native:
            self._encoder.lose("order_flattened", "text after a call")
        if block.text or not self._content:
            self._content.append({"type": "text", "text": block.text})

    def _add_media(self, media: Media) -> None:
        part = None if self._assistant or self._shell.get("role") != "user" else _media(media)
        self._content.append(part or {"type": "text", "text": self._encoder.describe(media)})
        self._plain = self._plain and part is None


def _call(call: ToolCall, encoder: Encoder) -> dict[str, Json]:
    function = {"name": encoder.tool_name(call.name), "arguments": call.arguments}
    return {"id": encoder.ids.call(call.call_id), "type": "function", "function": function}


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    kept: dict[str, Json] | None = encoder.own(result.raw)
    if kept is not None:
        return kept
    call = encoder.calls.get(result.call_id)
    if call and "function_call" in (encoder.own(call.raw) or {}):
        return {"role": "function", "name": call.name, "content": encoder.result_text(result)}
    return {"role": "tool", "tool_call_id": encoder.ids.result(result.call_id), "content": encoder.result_text(result)}


def _media(media: Media) -> dict[str, Json] | None:
    """A content part of a user message; None for media that Chat does not take."""
    url = to_url(media)
    if media.kind == "image" and url and not url.startswith(("gs:", "s3:")):
        return {"type": "image_url", "image_url": {"url": url}}
    if media.kind == "audio" and media.data is not None and media.mime in AUDIO:
        audio = {"data": to_base64(media.data), "format": AUDIO[media.mime]}
        return {"type": "input_audio", "input_audio": audio}
    if media.kind == "document" and media.data is not None:
        return {"type": "file", "file": {"file_data": url, "filename": media.name or "document"}}
    return None
