"""Messages of LangChain ⇄ messages of the tree.

The envelope of a message has its serialised form, less a text that the blocks hold already: exactly this message comes
back.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, TypeAlias

from bough.adapters.common import json_call, priced
from bough.adapters.paths import ATOMS, copied
from bough.model import Block, Json, Media, Message, Other, Role, Text, ToolResult, Usage, tool_call

KEPT = "langgraph"
ROLES: dict[str, Role] = {
    "human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "AIMessageChunk": "assistant",
    "tool": "tool_result", "function": "tool_result", "system": "system",
}  # fmt: skip


Form: TypeAlias = tuple[str, bytes, str | None]
"""What is stored of a message: its type and bytes when it is serialised, and the text that was cut out of it."""


class Serialised:
    """A message in the form that is stored."""

    def __init__(self, serde: Any, message: Any) -> None:
        self.message = message
        self.cut = isinstance(message.content, str) and message.content != ""
        plain = message.model_copy(update={"content": ""}) if self.cut else message
        self.form: Form = (*serde.dumps_typed(plain), message.content if self.cut else None)

    def to_message(self) -> Message:
        """As a message of the tree."""
        role = ROLES.get(self.message.type, "user")
        type, data, _ = self.form
        kept = [type, base64.b64encode(data).decode("ascii"), self.cut]
        error = getattr(self.message, "status", None) == "error"
        return Message(role, tuple(blocks_of(self.message, role, self.cut)), error, {KEPT: kept})


def copy_of(message: Any) -> Any:
    """A copy of a message, which a graph may change."""
    if message.model_extra:
        return message.model_copy(deep=True)
    fields = message.__dict__.items()
    return message.model_copy(update={name: copied(field) for name, field in fields if type(field) not in ATOMS})


def is_same(message: Any, other: Any) -> bool:
    """Whether messages have equal fields, which have the same form."""
    return (
        type(message) is type(other)
        and message.__dict__ == other.__dict__
        and message.model_extra == other.model_extra
    )  # fmt: skip


def blocks_of(message: Any, role: Role, cut: bool) -> list[Block]:
    """What can be read and searched of a message. With `cut`, the first block is its text, unchanged."""
    parts = [message.content] if isinstance(message.content, str) else message.content
    blocks = [block_of(part) for part in parts if part != "" or cut]
    if role == "tool_result":
        inside = [block for block in blocks if isinstance(block, (Text, Media, Other))]
        call = str(getattr(message, "tool_call_id", None) or getattr(message, "name", None) or "")
        failed = getattr(message, "status", None) == "error"
        return [ToolResult(call, tuple(inside), failed, getattr(message, "name", None))]
    calls = [*getattr(message, "tool_calls", []), *getattr(message, "invalid_tool_calls", [])]
    return blocks + [tool_call(str(call.get("id") or ""), str(call["name"]), call["args"] or {}) for call in calls]


def block_of(part: Json) -> Block:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return Text(part["text"])
    return Other(str(part.get("type") if isinstance(part, dict) else "part"), None)


def restored(serde: Any, message: Message) -> tuple[Any, Form]:
    """The message of LangChain, and its form. Raises `KeyError` for one that another program added."""
    type, data, cut = (message.envelope or {})[KEPT]
    raw = base64.b64decode(data)
    found = serde.loads_typed((type, raw))
    if not cut:
        return found, (type, raw, None)
    first = message.blocks[0]
    text = first.text if isinstance(first, (Text, ToolResult)) else ""
    return found.model_copy(update={"content": text}), (type, raw, text)


def foreign(message: Message) -> Any:
    """A message of LangChain for one that another program added to the dialog."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    if message.role == "assistant":
        calls = [{"id": call.call_id, "name": call.name, "args": json_call(call)} for call in message.calls]
        return AIMessage(message.text, tool_calls=calls)
    if message.role == "tool_result":
        (result, *_) = message.results
        return ToolMessage(result.text, tool_call_id=result.call_id, status="error" if result.error else "success")
    return (SystemMessage if message.role == "system" else HumanMessage)(message.text)


def provenance(messages: Sequence[Any]) -> dict[str, Any]:
    """Arguments of `Session.append` about the replies among messages of LangChain."""
    replies = [message for message in messages if ROLES.get(message.type) == "assistant"]
    if not replies:
        return {}
    told = [getattr(reply, "response_metadata", None) or {} for reply in replies]
    models = [one.get("model_name") or one.get("model") for one in told]
    providers = [one.get("model_provider") for one in told]
    usages = [usage_of(*each) for each in zip(replies, models, providers, strict=True)]
    if not any(models) and not any(usages):
        return {}
    return {"usage": usages, "model": models[-1], "provider": providers[-1], "request_id": told[-1].get("id")}


def usage_of(reply: Any, model: str | None, provider: str | None) -> Usage | None:
    counts = getattr(reply, "usage_metadata", None)
    if not counts:
        return None
    cached = (counts.get("input_token_details") or {}).get("cache_read")
    reasoning = (counts.get("output_token_details") or {}).get("reasoning")
    usage = Usage(counts.get("input_tokens"), counts.get("output_tokens"), cached, reasoning)
    return priced(usage, model, provider)
