"""Events of ADK ⇄ messages of the tree: an event is a node, and its envelope has the whole of it."""

from __future__ import annotations

import json
from typing import Any

from google.adk.events.event import Event

from bough import formats
from bough.adapters.common import priced
from bough.formats.payload import total
from bough.model import Block, Json, Message, Node, Other, Role, Text, Thinking, ToolResult, Usage, tool_call
from bough.model.values import replace

KEPT = "google-adk"


def message_of(event: Any) -> Message:
    """The message of an event. One without content, which only changes state, is a note without text."""
    whole = json.loads(event.model_dump_json(exclude_none=True))
    content = whole.get("content") or {}
    blocks = [block for part in content.get("parts") or () for block in blocks_of(part)]
    role: Role = "user" if content.get("role") == "user" or event.author == "user" else "assistant"
    if not blocks:
        role, blocks = "system", [Other("event", None)]
    elif all(isinstance(block, ToolResult) for block in blocks):
        role = "tool_result"
    return Message(role, tuple(blocks), envelope={KEPT: whole})


def blocks_of(part: Json) -> list[Block]:
    """The blocks of a part; what is neither text nor a call nor its result is readable only in the envelope."""
    if part.get("text"):
        return [Thinking(part["text"]) if part.get("thought") else Text(part["text"])]
    if call := part.get("function_call"):
        return [tool_call(call.get("id") or call["name"], call["name"], call.get("args") or {})]
    if result := part.get("function_response"):
        text = json.dumps(result.get("response"), ensure_ascii=False)
        return [ToolResult(result.get("id") or result["name"], (Text(text),), name=result["name"])]
    return [Other(next(iter(part), "part"), None)]


def event_of(node: Node) -> Any:
    """The event of a node; made from the message if another program added it."""
    envelope = node.message.envelope
    if isinstance(envelope, dict) and KEPT in envelope:
        return Event.model_validate_json(json.dumps(envelope[KEPT]))
    contents = formats.get("gemini").encode([replace(node.message, envelope=None)]).payload
    author = "model" if node.role == "assistant" else "user"
    return Event.model_validate(
        {
            "id": node.id,
            "author": author,
            "invocation_id": f"bough-{node.turn_id or node.id}",
            "timestamp": node.created_at / 1_000_000,
            "content": contents[0] if contents else None,
        }
    )


def provenance(event: Any) -> dict[str, Any]:
    """Arguments of `Session.append` about an event that is a reply."""
    counts = event.usage_metadata
    if counts is None:
        return {"model": event.model_version} if event.model_version else {}
    thoughts = counts.thoughts_token_count
    usage = Usage(
        counts.prompt_token_count,
        total(counts.candidates_token_count, thoughts),
        counts.cached_content_token_count,
        thoughts,
    )
    return {"usage": priced(usage, event.model_version, "google"), "model": event.model_version, "provider": "google"}
