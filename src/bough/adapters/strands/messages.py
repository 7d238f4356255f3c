"""Messages of Strands, which are those of Bedrock's Converse API, ⇄ messages of the tree."""

from __future__ import annotations

from typing import Any

from bough import formats
from bough.adapters.common import priced
from bough.errors import FormatError
from bough.model import Json, Message, Other, Role, Text, ToolResult, Usage
from bough.model.values import replace

KEPT = "strands"


def message_of(session_message: Any) -> Message:
    """The message of a session's message, which is kept whole. It is one node, whatever it is made of."""
    whole: dict[str, Json] = session_message.to_dict()
    wire = session_message.message
    try:
        found = formats.get("bedrock").decode([{"role": wire["role"], "content": wire["content"]}]).messages
    except (FormatError, KeyError, TypeError):
        found = ()
    blocks = tuple(replace(block, raw=None) for message in found for block in message.blocks if not is_other(block))
    role: Role = "assistant" if wire.get("role") == "assistant" else "user"
    if blocks and all(isinstance(block, ToolResult) for block in blocks):
        role = "tool_result"
    error = any(isinstance(block, ToolResult) and block.error for block in blocks)
    return Message(role, blocks or (Text(""),), error, {KEPT: whole})


def is_other(block: object) -> bool:
    return isinstance(block, Other)


def kept(message: Message) -> Json:
    """The session's message as it was stored; None for a message that another program added."""
    return message.envelope.get(KEPT) if isinstance(message.envelope, dict) else None


def foreign(messages: list[Message]) -> list[Any]:
    """Messages of Strands for those that another program added."""
    plain = [replace(message, envelope=None) for message in messages]
    return list(formats.get("bedrock").encode(plain).payload)


def provenance(message: Any, model: str | None) -> dict[str, Any]:
    """Arguments of `Session.append` about a reply: Strands notes its usage in the metadata of the message."""
    metadata = message.get("metadata") or {}
    counts = metadata.get("usage") or {}
    if message.get("role") != "assistant" or not counts:
        return {}
    usage = Usage(counts.get("inputTokens"), counts.get("outputTokens"), counts.get("cacheReadInputTokens"))
    return {"usage": priced(usage, model), "model": model}
