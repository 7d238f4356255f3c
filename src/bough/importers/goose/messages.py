"""Decode one message of goose, where tool results are part of user messages."""

from __future__ import annotations

from bough.formats.media import from_base64, kind_of
from bough.formats.payload import at, text_or_none, written
from bough.formats.role_content import pieces
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult

FAMILY = "goose"


def read_messages(sender: Json, content: Json, rest: Json) -> list[Message]:
    """The messages of a goose message: tool results, then text."""
    role: Role = "assistant" if sender == "assistant" else "user" if sender == "user" else "system"
    blocks = [_block(item) for item in content] if isinstance(content, list) else []
    messages: list[Message] = []
    for kind, piece in pieces(blocks, role):
        failed = any(isinstance(block, ToolResult) and block.error for block in piece)
        envelope = {FAMILY: rest} if rest and not messages else None
        messages.append(Message(kind, tuple(piece), failed, envelope))
    return messages


def _block(item: Json) -> Block:
    raw = {FAMILY: item}
    match at(item, "type"):
        case "text" if isinstance(text := item.get("text"), str):
            return Text(text)
        case "image" if (media := _image(item)) is not None:
            return media
        case "thinking" if isinstance(text := item.get("thinking"), str):
            return Thinking(text, raw=raw)
        case "redactedThinking":
            return Thinking("", raw=raw)
        case "toolRequest" | "frontendToolRequest" if isinstance(called := at(item, "toolCall", "value"), dict):
            return ToolCall(str(item.get("id")), str(called.get("name")), written(called.get("arguments")), raw=raw)
        case "toolResponse":
            return _result(item, raw)
        case kind:
            return Other(str(kind), raw)


def _result(item: dict[str, Json], raw: Json) -> ToolResult:
    """A tool result: a list of parts, in newer versions an object with such a list, or an error."""
    record = item.get("toolResult")
    answer = at(record, "value")
    failed = at(record, "status") == "error" or at(answer, "isError") is True
    parts = at(answer, "content") if isinstance(answer, dict) else answer
    content = tuple(_part(part) for part in parts) if isinstance(parts, list) else ()
    if not content and (text := text_or_none(at(record, "error"))):
        content = (Text(text),)
    return ToolResult(str(item.get("id")), content, failed, raw=raw)


def _part(part: Json) -> Text | Media | Other:
    match at(part, "type"):
        case "text" if isinstance(text := part.get("text"), str):
            return Text(text)
        case "image" if (media := _image(part)) is not None:
            return media
        case "resource" if isinstance(text := at(part, "resource", "text"), str):
            return Text(text)
        case kind:
            return Other(str(kind), {FAMILY: part})


def _image(item: dict[str, Json]) -> Media | None:
    data, mime = from_base64(item.get("data")), text_or_none(item.get("mimeType")) or "image/png"
    return None if data is None else Media(kind_of(mime), mime, data=data)
