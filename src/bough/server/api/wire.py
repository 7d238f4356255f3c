"""Values as the API sends them. Media are links: their bytes are read by a request of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bough.errors import FormatError
from bough.formats.jsonl import decode_message, encode_block
from bough.model import ROLES, Media, Text, ToolResult
from bough.model.values import asdict, replace
from bough.server.api.operations import PREFIX, Field
from bough.server.api.parsing import wrong

if TYPE_CHECKING:
    from bough.model import Block, Json, Message, Node


def node_json(node: Node) -> dict[str, Any]:
    """A message with its place, without the provider's envelope; the blocks are those of the format `bough.jsonl`."""
    return {
        "id": node.id, "parent_id": node.parent_id, "created_at": node.created_at, "role": node.role,
        "kind": node.kind, "label": node.label, "turn_id": node.turn_id, "covers": node.covers,
        "error": node.message.error, "weight": node.weight, "blocks": blocks_json(node.id, node.message),
    }  # fmt: skip


def blocks_json(id: str, message: Message) -> list[dict[str, Any]]:
    """The blocks of a message. The number of a block counts those inside of results too."""
    made, position = [], 0
    for block in message.blocks:
        shown, next_position = block_json(id, block, position), position + 1
        if isinstance(block, ToolResult) and not is_plain(block):
            parts = [block_json(id, part, place) for place, part in enumerate(block.content, next_position)]
            shown["content"] = parts
            next_position += len(parts)
        made.append(shown)
        position = next_position
    return made


def is_plain(result: ToolResult) -> bool:
    """Whether a result is stored without parts of its own."""
    only = result.content[0] if len(result.content) == 1 else None
    return isinstance(only, Text) and only.extra is None and only.raw is None


def block_json(id: str, block: Block, position: int) -> dict[str, Any]:
    """A block; of media with bytes, their size and where they are."""
    if isinstance(block, Media) and block.data is not None:
        link = f"{PREFIX}/messages/{quote(id)}/blocks/{position}"
        shown = encode_block(replace(block, data=None, url=link, raw=None))
        return {**shown, "size": len(block.data)}
    shown = encode_block(block)
    if isinstance(block, ToolResult):
        shown["content"] = [encode_block(replace(part, data=b"")) if isinstance(part, Media) and part.data is not None
                            else encode_block(part) for part in block.content]  # fmt: skip
    return {name: item for name, item in shown.items() if name != "raw"}


def message_of(given: Json) -> Message:
    """The user's message: a text, or blocks of the format `bough.jsonl`. Raises `HttpProblem`."""
    blocks = [{"type": "text", "text": given}] if isinstance(given, str) else given
    try:
        return decode_message({"role": "user", "blocks": blocks}, "input")
    except FormatError as error:
        raise wrong("input", f"{error} Nothing was done.") from None


def page_json(data: list[Any], next: str | None, **more: Any) -> dict[str, Any]:
    """A page of a list."""
    return {"data": [asdict(item) for item in data], "next": next, "has_more": next is not None, **more}


def limit_field(default: int, most: int = 1000) -> Field:
    """The parameter for the length of a page."""
    return Field("limit", "integer", "At most so many.", default=default, least=1, most=most)


LIMIT = limit_field(100)
CURSOR = Field("cursor", "string", "`next` of the page before, with the same filters.")
AS_OF = Field("as_of", "time", "As it was at this time.")
NULLABLE_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
NODE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"}, "parent_id": NULLABLE_TEXT, "created_at": {"type": "integer"},
        "role": {"enum": list(ROLES)}, "kind": {"enum": ["message", "summary"]}, "label": NULLABLE_TEXT,
        "turn_id": NULLABLE_TEXT, "covers": NULLABLE_TEXT, "error": {"type": "boolean"}, "weight": {"type": "integer"},
        "blocks": {"type": "array", "items": {"type": "object", "required": ["type"]}},
    },
    "required": ["id", "parent_id", "created_at", "role", "kind", "label", "turn_id", "covers", "error", "weight",
                 "blocks"],
}  # fmt: skip
"""The schema of `node_json`."""
