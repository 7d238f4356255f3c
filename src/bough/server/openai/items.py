"""Items of the Responses API, as clients see them, and the messages that they are stored as.

The item of a block is in its `raw`, beside that of the provider which gave the reply. A message that another program
stored has none: its items are made from its content, with ids that are made from the message's own.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

from bough import formats
from bough.formats.encoder import own
from bough.model import Block, Json, Media, Message, Node, Text, Thinking, ToolCall
from bough.model.values import replace
from bough.server.openai.ids import item_id

FAMILY = "openai.responses"
REPLY = {FAMILY: "reply"}
SEAL = "bough:"
"""What encrypted content begins with that holds the reasoning item of another provider."""
TEXTS = {"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}
ENCRYPTED = "reasoning.encrypted_content"


def items_of(nodes: Iterable[Node], include: Sequence[str] = ()) -> list[dict[str, Json]]:
    """The items of the messages of a path."""
    return [item for node in nodes for item in message_items(node.message, node.id, include)]


def message_items(message: Message, id: str, include: Sequence[str] = ()) -> list[dict[str, Json]]:
    """The items of a message, each with its id, its type and a status."""
    wire: Any = formats.get(FAMILY).encode([replace(message, envelope=_item_envelope(message))]).payload
    if not message.blocks and message.role == "assistant":
        return []
    items = [_whole(item, id, place) for place, item in enumerate(wire)]
    if ENCRYPTED in include:
        _seal(message, items)
    return [shown(item, include) for item in items]


def _seal(message: Message, items: list[dict[str, Json]]) -> None:
    """Add the reasoning of another provider to its items, in which only the text is stored."""
    blocks = [block for block in message.blocks if isinstance(block, Thinking) and own(block.raw, FAMILY) is not None]
    reasoning = [item for item in items if item["type"] == "reasoning"]
    for item, block in zip(reasoning, blocks, strict=False):
        foreign = {family: one for family, one in block.raw.items() if family != FAMILY}
        if not item.get("encrypted_content"):
            item["encrypted_content"] = SEAL + base64.b64encode(json.dumps(foreign).encode()).decode()


def _item_envelope(message: Message) -> Json:
    """The envelope without the mark of a reply, with which an item would lose what only a reply has."""
    return None if own(message.envelope, FAMILY) == "reply" else message.envelope


def _whole(item: dict[str, Json], id: str, place: int) -> dict[str, Json]:
    """An item with all the keys that clients expect."""
    kind = item.get("type") or "message"
    whole = {"id": item_id(kind, id, place), "type": kind, **item}
    whole["id"], whole["type"] = whole["id"] or item_id(kind, id, place), kind
    if kind == "message":
        return {"status": "completed", **whole, "content": _parts(whole.get("content"), str(whole.get("role")))}
    if kind in ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"):
        return {"status": "completed", **whole}
    return {"summary": [], **whole} if kind == "reasoning" else whole


def _parts(content: Json, role: str) -> list[Json]:
    """The content of a message as a list of parts."""
    kind = TEXTS.get(role, "input_text")
    parts = [{"type": kind, "text": content}] if isinstance(content, str) else list(content or ())
    return [_output_text(part) if isinstance(part, dict) and part.get("type") == "output_text" else part
            for part in parts]  # fmt: skip


def _output_text(part: dict[str, Json]) -> dict[str, Json]:
    return {"annotations": [], "logprobs": [], **part}


def shown(item: dict[str, Json], include: Sequence[str]) -> dict[str, Json]:
    """An item without what is only shown to those who ask for it."""
    if item.get("type") == "reasoning" and ENCRYPTED not in include:
        return {key: one for key, one in item.items() if key != "encrypted_content"}
    return item


# A reply of another provider ----------------------------------------------------------------------------------------


def with_items(message: Message, ids: dict[int, str], response: str) -> Message:
    """A reply of a provider with other items, whose blocks get those of a response.

    `ids` are the ids that a stream has announced, by the position of the block.
    """
    blocks = tuple(
        _with_item(block, ids.get(place) or item_id(kind_of(block), response, place))
        for place, block in enumerate(message.blocks)
    )
    envelope = message.envelope if isinstance(message.envelope, dict) else {}
    return replace(message, blocks=blocks, envelope={**envelope, **REPLY})


def kind_of(block: Block) -> str:
    """The type of the item that a block of a reply becomes."""
    return {Thinking: "reasoning", ToolCall: "function_call"}.get(type(block), "message")


def _with_item(block: Block, id: str) -> Block:
    item = _item(block, id)
    raw = block.raw if isinstance(block.raw, dict) else {}
    return block if item is None else replace(block, raw={**raw, FAMILY: item})


def _item(block: Block, id: str) -> dict[str, Json] | None:
    """The item of a block; None for one that Responses has no item for."""
    match block:
        case Text():
            part = text_part(block)
            return {"id": id, "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        case ToolCall():
            return call_item(id, block.call_id, block.name, block.arguments, "completed")
        case Thinking():
            content = [{"type": "reasoning_text", "text": block.text}] if block.text else []
            return {"id": id, "type": "reasoning", "summary": [], "content": content}
        case Media() if block.kind == "image" and block.data is not None:
            return {"id": id, "type": "image_generation_call", "status": "completed",
                    "result": base64.b64encode(block.data).decode()}  # fmt: skip
    return None


def text_part(block: Text) -> dict[str, Json]:
    """The content part of a text: its refusal, if it is one."""
    if isinstance(block.raw, dict) and "refusal" in (own(block.raw, "openai.chat") or ()):
        return {"type": "refusal", "refusal": block.text}
    return {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}


def call_item(id: str, call_id: str, name: str, arguments: str, status: str) -> dict[str, Json]:
    """The item of a function call."""
    return {"id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": call_id,
            "name": name}  # fmt: skip


def unsealed(message: Message) -> Message:
    """A message of an input with the reasoning of other providers that a client was given to keep."""
    if not any(isinstance(block, Thinking) for block in message.blocks):
        return message
    return replace(message, blocks=tuple(map(_unsealed, message.blocks)))


def opened_summary(item: dict[str, Json]) -> dict[str, Json]:
    """An item of an input: a summary that was made here is a message, which any provider reads."""
    packed = item.get("encrypted_content")
    if item.get("type") != "compaction" or not isinstance(packed, str) or not packed.startswith(SEAL):
        return item
    try:
        summary = json.loads(base64.b64decode(packed.removeprefix(SEAL)))["summary"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return item
    return {"type": "message", "role": "user", "id": item.get("id"), "content": str(summary)}


def _unsealed(block: Block) -> Block:
    item = own(block.raw, FAMILY) if isinstance(block, Thinking) else None
    packed = item.get("encrypted_content") if isinstance(item, dict) else None
    if not isinstance(packed, str) or not packed.startswith(SEAL):
        return block
    try:
        raw = json.loads(base64.b64decode(packed.removeprefix(SEAL)))
    except (ValueError, RecursionError):
        return block
    return replace(block, raw={**raw, **block.raw}) if isinstance(raw, dict) else block
