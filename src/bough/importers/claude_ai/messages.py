"""Decode one message of Claude.ai, where a reply also holds tool results and becomes several messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from bough.errors import FormatError
from bough.formats.anthropic.decode import decode_block
from bough.formats.media import FORMATS, kind_of
from bough.formats.payload import text_or_none, written
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult

FAMILY = "claude.ai"
KEPT_ELSEWHERE = {
    "uuid",
    "text",
    "content",
    "sender",
    "created_at",
    "parent_message_uuid",
    "attachments",
    "files",
    "files_v2",
}


def read_messages(record: dict[str, Json], name: str) -> list[Message]:
    """The messages, split between the model's blocks and tool results; at least one."""
    role: Role = "user" if record.get("sender") == "human" else "assistant"
    blocks = [*_content(record, name), *_attached(record)]
    rest = {key: value for key, value in record.items() if key not in KEPT_ELSEWHERE and value not in (None, [], {})}
    envelope = {FAMILY: rest} if rest else None
    messages: list[Message] = []
    for is_result, run in groupby(blocks, lambda block: isinstance(block, ToolResult)):
        part = tuple(run)
        failed = any(isinstance(block, ToolResult) and block.error for block in part)
        messages.append(Message("tool_result" if is_result else role, part, failed, None if messages else envelope))
    return messages or [Message(role, (), envelope=envelope)]


def _content(record: dict[str, Json], name: str) -> Iterator[Block]:
    """The blocks; older exports have only text. A call without an id gets one from its position."""
    content = record.get("content")
    items = [item for item in content if item] if isinstance(content, list) else []
    text = text_or_none(record.get("text"))
    if text and not any(isinstance(item, dict) and item.get("type") == "text" for item in items):
        items.insert(0, {"type": "text", "text": text})
    call = name
    for position, item in enumerate(items):
        block = _block(item, f"{name}:{position}", call)
        call = block.call_id if isinstance(block, ToolCall) else call
        if not (isinstance(block, Text) and not block.text):
            yield block


def _block(item: Json, name: str, call: str) -> Block:
    raw = {FAMILY: item}
    if not isinstance(item, dict):
        return Other("unknown", raw)
    match item.get("type"):
        case "text" if isinstance(text := item.get("text"), str):
            return Text(text, raw=raw if item.get("citations") else None)
        case "thinking" if isinstance(text := item.get("thinking"), str):
            return Thinking(text, raw=raw)
        case "tool_use":
            given = item.get("input")
            arguments = given if isinstance(given, str) else written(given)
            return ToolCall(text_or_none(item.get("id")) or name, str(item.get("name")), arguments, raw=raw)
        case "tool_result":
            answers, tool = text_or_none(item.get("tool_use_id")) or call, text_or_none(item.get("name"))
            return ToolResult(answers, _parts(item.get("content")), bool(item.get("is_error")), tool, raw=raw)
        case "voice_note" if isinstance(text := item.get("text") or item.get("transcript"), str):
            return Text(text, raw=raw)
        case kind:
            return Other(str(kind), raw)


def _parts(content: Json) -> tuple[Text | Media | Other, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_part(item) for item in content) if isinstance(content, list) else ()


def _part(item: Json) -> Text | Media | Other:
    if isinstance(item, dict):
        try:
            block = decode_block(item, "content")
        except FormatError:
            block = None
        if isinstance(block, (Text, Media)):
            return block
    return Other(str(item.get("type")) if isinstance(item, dict) else "unknown", {FAMILY: item})


def _attached(record: dict[str, Json]) -> Iterator[Block]:
    """The attachments: their extracted text, else only their names."""
    for one in _dicts(record.get("attachments")):
        text, name = text_or_none(one.get("extracted_content")), text_or_none(one.get("file_name"))
        if text:
            yield Text(text, extra={"attachment": name} if name else {"attachment": "pasted"}, raw={FAMILY: one})
        else:
            yield _file(one, name)
    for one in _dicts(record.get("files")):
        yield _file(one, text_or_none(one.get("file_name")))


def _file(one: dict[str, Json], name: str | None) -> Block:
    file_id = text_or_none(one.get("file_uuid")) or name
    if not file_id:
        return Other("file", {FAMILY: one})
    mime = FORMATS.get((name or "").rpartition(".")[2].lower(), "")
    return Media(kind_of(mime), mime, file_id=file_id, name=name, raw={FAMILY: one})


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
