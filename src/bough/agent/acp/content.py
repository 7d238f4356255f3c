"""Content of the Agent Client Protocol, from and to messages."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

from bough.errors import Invalid
from bough.model import Block, Media, Message, Node, Text, Thinking, ToolCall, ToolResult


def message_of(prompt: Sequence[dict[str, Any]]) -> Message:
    """The user's message. Raises `Invalid`."""
    blocks = tuple(block_of(part) for part in prompt)
    if not blocks:
        raise Invalid("A prompt has at least one block; nothing was asked.")
    return Message("user", blocks)


def block_of(part: dict[str, Any]) -> Block:
    match part.get("type"):
        case "text":
            return Text(str(part["text"]))
        case "image":
            return Media("image", str(part["mimeType"]), data_of(part["data"]), name=part.get("uri"))
        case "audio":
            return Media("audio", str(part["mimeType"]), data_of(part["data"]))
        case "resource_link":
            return Text(f"[{part.get('title') or part.get('name') or part['uri']}]({part['uri']})")
        case "resource":
            found = part["resource"]
            if "text" in found:
                return Text(f"{found['uri']}:\n{found['text']}")
            mime = str(found.get("mimeType") or "application/octet-stream")
            return Media("image" if mime.startswith("image/") else "document", mime, data_of(found["blob"]),
                         name=found["uri"])  # fmt: skip
        case kind:
            raise Invalid(f"A prompt has no block of the type {kind!r:.60}; nothing was asked.")


def data_of(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Invalid("The data of a block is not base64; nothing was asked.") from None


def updates(node: Node) -> Iterator[dict[str, Any]]:
    """The updates that show a stored message."""
    chunk = "user_message_chunk" if node.role == "user" else "agent_message_chunk"
    for block in node.message.blocks:
        match block:
            case Text():
                yield {"sessionUpdate": chunk, "content": text(block.text), "messageId": node.id}
            case Thinking() if block.text:
                yield {"sessionUpdate": "agent_thought_chunk", "content": text(block.text), "messageId": node.id}
            case ToolCall():
                yield called(block)
            case ToolResult():
                yield answered(block)
            case Media() if block.data is not None and block.kind in ("image", "audio"):
                content = {"type": block.kind, "mimeType": block.mime, "data": base64.b64encode(block.data).decode()}
                yield {"sessionUpdate": chunk, "content": content, "messageId": node.id}
            case Media():
                yield {"sessionUpdate": chunk, "content": text(f"({block.kind}, {block.mime})"), "messageId": node.id}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def called(call: ToolCall) -> dict[str, Any]:
    """The update for a call that begins."""
    return {"sessionUpdate": "tool_call", "toolCallId": call.call_id, "title": call.name, "kind": "other",
            "status": "in_progress", "rawInput": call.arguments}  # fmt: skip


def answered(result: ToolResult) -> dict[str, Any]:
    """The update for a call that ended."""
    content = [{"type": "content", "content": text(part.text)} for part in result.content if isinstance(part, Text)]
    return {"sessionUpdate": "tool_call_update", "toolCallId": result.call_id, "content": content,
            "status": "failed" if result.error else "completed"}  # fmt: skip
