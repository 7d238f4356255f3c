"""The workload for the raw contestant: plain tuples, ready to be bound."""

from __future__ import annotations

from bench.raw import RawMessage, Row
from bench.workload import Conversation
from bough import Media, Message, Text, ToolCall, ToolResult


def prepared(talk: Conversation) -> list[list[RawMessage]]:
    return [[_message(message) for message in turn] for turn in talk]


def _message(message: Message) -> RawMessage:
    return message.role, [_block(position, block) for position, block in enumerate(message.blocks)]


def _block(position: int, block: object) -> Row:
    match block:
        case Text():
            return position, "text", None, None, None, None, block.text, None
        case ToolCall():
            return position, "tool_call", None, None, block.call_id, block.name, block.arguments, None
        case ToolResult():
            return position, "tool_result", None, None, block.call_id, block.name, block.text, None
        case Media():
            return position, "media", block.kind, block.mime, None, block.name, None, block.data
    raise TypeError(f"the workload has no {block!r:.40}")
