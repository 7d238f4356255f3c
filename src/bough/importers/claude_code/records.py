"""Decode one line of a Claude Code file into messages, without regard to other lines."""

from __future__ import annotations

from collections.abc import Iterable

from bough.errors import FormatError
from bough.formats.anthropic.decode import FAMILY, decode_block
from bough.formats.payload import at, written
from bough.formats.role_content import pieces
from bough.model import Block, Json, Message, Other, Role, Text, ToolCall, ToolResult

Record = dict[str, Json]

KEPT_ELSEWHERE = {"type", "uuid", "parentUuid", "sessionId", "timestamp", "message", "isSidechain", "userType"}
"""Fields that the node or its session keeps."""
ENVIRONMENT = ("cwd", "gitBranch", "version", "entrypoint", "slug")
"""Fields that are the same on nearly every line."""


def read_blocks(content: Json) -> list[Block]:
    if isinstance(content, str):
        return [Text(content)]
    return [_read_block(item) for item in content] if isinstance(content, list) else []


def _read_block(item: Json) -> Block:
    if isinstance(item, str):
        return Text(item)
    if not isinstance(item, dict):
        return Other("unknown", {FAMILY: item})
    if plain := _plain_block(item):
        return plain
    try:
        return decode_block(item, "content")
    except FormatError:
        return Other(str(item.get("type")), {FAMILY: item})


def _plain_block(item: dict[str, Json]) -> Block | None:
    """A block without further fields; its raw form need not be kept as well."""
    match item:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return Text(text)
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict(given), **rest} if not rest:
            return ToolCall(call_id, name, written(given))
        case {"type": "tool_result", "tool_use_id": str(call_id), "content": str(text), **rest}:
            if rest.keys() <= {"is_error"}:
                return ToolResult(call_id, (Text(text),), bool(rest.get("is_error")))
    return None


def user_messages(line: Record, rest: Record) -> list[Message]:
    """The messages of a user line: text, tool results, or results followed by text."""
    blocks = read_blocks(message_of(line).get("content"))
    return [
        _message(role, tuple(part), {} if number else rest)
        for number, (role, part) in enumerate(pieces(blocks, "user"))
    ]


def assistant_message(lines: Iterable[Record], rest: Record) -> Message:
    """A reply of the model, one block per line."""
    blocks = [block for line in lines for block in read_blocks(message_of(line).get("content"))]
    return Message("assistant", tuple(blocks), bool(rest.get("isApiErrorMessage")), _envelope(rest))


def note_message(line: Record) -> Message:
    """A note of Claude Code between the messages, kept whole; it is never sent to a model."""
    kind = line.get("subtype") or at(line, "attachment", "type")
    name = f"{line.get('type')}/{kind}" if kind else str(line.get("type"))
    kept = {key: value for key, value in line.items() if key not in KEPT_ELSEWHERE - {"type", "message"}}
    return Message("system", (Other(name, {"claude-code": kept}),))


def message_of(line: Record) -> Record:
    message = line.get("message")
    return message if isinstance(message, dict) else {}


def _message(role: Role, blocks: tuple[Block, ...], rest: Record) -> Message:
    failed = any(isinstance(block, ToolResult) and block.error for block in blocks)
    return Message(role, blocks, failed, _envelope(rest))


def _envelope(rest: Record) -> Json:
    return {"claude-code": rest} if rest else None
