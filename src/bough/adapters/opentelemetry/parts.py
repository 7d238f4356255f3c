"""Messages in the attributes of GenAI spans (`gen_ai.input.messages`, `gen_ai.output.messages`) ⇄ messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bough.adapters.common import json_call
from bough.model import Block, Json, Message, Other, Role, Text, Thinking, ToolResult, tool_call

ROLES: dict[str, Role] = {"assistant": "assistant", "tool": "tool_result", "system": "system"}


def messages_of(text: Json) -> list[Message]:
    """The messages of an attribute: JSON text, or the list that it stands for."""
    wires = json.loads(text) if isinstance(text, str) else text
    return [message_of(wire) for wire in wires or () if isinstance(wire, dict)]


def message_of(wire: Json) -> Message:
    blocks = [block_of(part) for part in wire.get("parts") or ()]
    role = ROLES.get(str(wire.get("role")), "user")
    if blocks and all(isinstance(block, ToolResult) for block in blocks):
        role = "tool_result"
    return Message(role, tuple(blocks) or (Text(""),))


def block_of(part: Json) -> Block:
    kind = part.get("type")
    if kind == "text":
        return Text(part.get("content") or "")
    if kind == "reasoning":
        return Thinking(part.get("content") or "")
    if kind == "tool_call":
        return tool_call(str(part.get("id") or ""), part.get("name") or "", part.get("arguments") or {})
    if kind == "tool_call_response":
        result = part.get("response", part.get("result"))
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return ToolResult(str(part.get("id") or ""), (Text(text),))
    return Other(str(kind), part)


def wire_of(messages: Sequence[Message]) -> str:
    """The attribute for messages."""
    return json.dumps([{"role": role_of(message), "parts": parts_of(message)} for message in messages])


def role_of(message: Message) -> str:
    return "tool" if message.role == "tool_result" else message.role


def parts_of(message: Message) -> list[Json]:
    parts: list[Json] = []
    for block in message.blocks:
        if isinstance(block, Text):
            parts.append({"type": "text", "content": block.text})
        elif isinstance(block, Thinking):
            parts.append({"type": "reasoning", "content": block.text})
        elif isinstance(block, ToolResult):
            parts.append({"type": "tool_call_response", "id": block.call_id, "response": block.text})
    for call in message.calls:
        parts.append({"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": json_call(call)})
    return parts
