"""Messages of Pydantic AI ⇄ messages of the tree. The envelope has the whole message; long texts are stored once."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bough.adapters.common import priced
from bough.model import Block, Json, Message, Role, Text, Thinking, ToolResult, Usage, tool_call

KEPT = "pydantic-ai"


def message_of(message: Any) -> Message:
    """A message of the tree with what can be read of it."""
    (whole,) = json.loads(ModelMessagesTypeAdapter.dump_json([message]))
    blocks = [block for part in whole["parts"] for block in blocks_of(part)]
    return Message(role_of(whole, blocks), tuple(blocks), envelope={KEPT: whole})


def role_of(whole: Json, blocks: list[Block]) -> Role:
    if whole["kind"] == "response":
        return "assistant"
    if blocks and isinstance(blocks[0], ToolResult):
        return "tool_result"
    kinds = {part["part_kind"] for part in whole["parts"]}
    return "system" if kinds == {"system-prompt"} else "user"


def blocks_of(part: Json) -> list[Block]:
    """The blocks of a part: its text, or a call or its result. Of other content only the text is readable."""
    kind, content = part["part_kind"], part.get("content")
    if kind == "thinking":
        return [Thinking(content or "")]
    if kind in ("tool-call", "builtin-tool-call"):
        return [tool_call(part["tool_call_id"], part["tool_name"], part.get("args") or {})]
    if kind in ("tool-return", "builtin-tool-return") or (kind == "retry-prompt" and part.get("tool_name")):
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        failed = kind == "retry-prompt"
        return [ToolResult(part["tool_call_id"], (Text(text),), failed, part["tool_name"])]
    texts = content if isinstance(content, list) else [content]
    found = [item if isinstance(item, str) else item.get("content") for item in texts if isinstance(item, (str, dict))]
    return [Text(text) for text in found if isinstance(text, str)]


def restored(message: Message) -> Any:
    """The message of Pydantic AI; converted if another program added it."""
    envelope = message.envelope
    if isinstance(envelope, dict) and KEPT in envelope:
        (found,) = ModelMessagesTypeAdapter.validate_json(json.dumps([envelope[KEPT]]))
        return found
    if message.role == "assistant":
        return ModelResponse(parts=[part for block in message.blocks if (part := _reply_part(block)) is not None])
    parts = [part for block in message.blocks if (part := _request_part(block, message.role)) is not None]
    return ModelRequest(parts=parts)


def _reply_part(block: Block) -> Any:
    if isinstance(block, Text):
        return TextPart(block.text)
    if isinstance(block, Thinking):
        return ThinkingPart(block.text) if block.text else None
    if getattr(block, "tag", "") == "tool_call":
        return ToolCallPart(block.name, block.arguments, tool_call_id=block.call_id)  # type: ignore[union-attr]
    return None


def _request_part(block: Block, role: Role) -> Any:
    if isinstance(block, ToolResult):
        name = block.name or "tool"
        if block.error:
            return RetryPromptPart(block.text, tool_name=name, tool_call_id=block.call_id)
        return ToolReturnPart(name, block.text, tool_call_id=block.call_id)
    if isinstance(block, Text):
        return SystemPromptPart(block.text) if role == "system" else UserPromptPart(block.text)
    return None


def provenance(messages: list[Any]) -> dict[str, Any]:
    """Arguments of `Session.append` about the replies among messages."""
    replies = [message for message in messages if message.kind == "response"]
    if not replies:
        return {}
    usages = [priced(usage_of(reply), reply.model_name, reply.provider_name) for reply in replies]
    last = replies[-1]
    return {
        "usage": usages, "model": last.model_name, "provider": last.provider_name,
        "request_id": last.provider_response_id,
    }  # fmt: skip


def usage_of(reply: Any) -> Usage:
    """Its counts; a reply without any has zeros, which are unknown."""
    counts = reply.usage
    if not counts.input_tokens and not counts.output_tokens:
        return Usage()
    return Usage(
        counts.input_tokens, counts.output_tokens, counts.cache_read_tokens, counts.details.get("reasoning_tokens")
    )
