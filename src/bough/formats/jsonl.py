"""bough's own format: one JSON object per message, without loss.

A message is `{"role", "blocks", "error"?, "envelope"?}`; a node adds `{"id", "parent", "time", "label"?,
"turn_id"?, "kind"?, "covers"?}`. Bytes are base64. `dumps` and `loads` convert such objects to and from lines of text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from bough.errors import FormatError
from bough.formats.media import from_base64, to_base64
from bough.formats.payload import as_dict, as_list, as_text, plain, text_or_none
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Recipient, Violation
from bough.model import (
    ROLES,
    Block,
    Json,
    Kind,
    Media,
    MediaKind,
    Message,
    Node,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


class JsonLines:
    """The format of exported files."""

    name = "bough.jsonl"

    def decode(self, payload: Json) -> Decoded:
        """Decode a list of objects, one object, or the lines of a file. Raises `FormatError`."""
        objects = loads(payload) if isinstance(payload, str) else plain(payload)
        objects = [objects] if isinstance(objects, dict) else as_list(objects, "The lines")
        return Decoded(tuple(decode_message(item, f"line {number}") for number, item in enumerate(objects, 1)))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:  # noqa: ARG002
        """Encode messages, without loss."""
        return Encoded([encode_message(message) for message in messages])

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:  # noqa: ARG002
        """The messages as they are."""
        return Mended(tuple(messages))

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        """No violations. Raises `FormatError` if the payload is not in this format."""
        self.decode(payload)
        return []

    def accumulator(self) -> JsonLinesStream:
        return JsonLinesStream()


class JsonLinesStream:
    """Assembles one message from the objects of its blocks."""

    def __init__(self) -> None:
        self._blocks: list[Json] = []

    def feed(self, event: Json) -> None:
        decode_block(plain(event), "event")
        self._blocks.append(plain(event))

    def reply(self) -> dict[str, Json]:
        return {"role": "assistant", "blocks": list(self._blocks)}


def dumps(objects: Iterable[Json]) -> str:
    """Lines of ASCII, because lone surrogates cannot be encoded as UTF-8."""
    return "".join(json.dumps(item) + "\n" for item in objects)


def loads(text: str) -> list[Json]:
    """The objects of the lines. Raises `FormatError`, naming the line, if one is not JSON."""
    objects = []
    for number, line in enumerate(text.split("\n"), 1):  # splitlines() would split inside strings, at U+2028
        if line.strip():
            try:
                objects.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise FormatError(f"line {number} is not JSON: {error}.") from None
    return objects


def encode_node(node: Node) -> dict[str, Json]:
    """Encode a node: its message, id, parent, time and the rest."""
    place = {"id": node.id, "parent": node.parent_id, "time": node.created_at}
    rest = {"label": node.label, "turn_id": node.turn_id, "covers": node.covers}
    if node.kind != "message":
        rest["kind"] = node.kind
    return {**place, **_present(rest), **encode_message(node.message)}


def decode_node(item: Json, where: str = "line 1") -> Node:
    """Decode a node, without its digest, which the store computes. Raises `FormatError`."""
    item = as_dict(item, where)
    time = item.get("time")
    if not isinstance(time, int):
        raise FormatError(f"{where}.time should be a number of microseconds.")
    kind: Kind = "summary" if item.get("kind") == "summary" else "message"
    return Node(
        as_text(item.get("id"), f"{where}.id"),
        text_or_none(item.get("parent")),
        time,
        decode_message(item, where),
        label=text_or_none(item.get("label")),
        turn_id=text_or_none(item.get("turn_id", item.get("turn"))),  # archives used to call it "turn"
        kind=kind,
        covers=text_or_none(item.get("covers")),
    )


def encode_message(message: Message) -> dict[str, Json]:
    rest = {"error": message.error or None, "envelope": message.envelope}
    return {"role": message.role, "blocks": [encode_block(block) for block in message.blocks], **_present(rest)}


def decode_message(item: Json, where: str) -> Message:
    item = as_dict(item, where)
    role = item.get("role")
    if role not in ROLES:
        raise FormatError(f"{where} has the role {role!r}, which bough does not know.")
    blocks = as_list(item.get("blocks"), f"{where}.blocks")
    read = tuple(decode_block(block, f"{where}.blocks[{position}]") for position, block in enumerate(blocks))
    return Message(role, read, bool(item.get("error")), item.get("envelope"))


def encode_block(block: Block) -> dict[str, Json]:
    kept = _present({"extra": block.extra, "raw": block.raw})
    match block:
        case Text():
            return {"type": "text", "text": block.text, **kept}
        case Thinking():
            return {"type": "thinking", "text": block.text, **kept}
        case ToolCall():
            fields = {"call_id": block.call_id, "name": block.name, "arguments": block.arguments}
            return {"type": "tool_call", **fields, **kept}
        case ToolResult():
            content = [encode_block(part) for part in block.content]
            rest = _present({"error": block.error or None, "name": block.name})
            return {"type": "tool_result", "call_id": block.call_id, "content": content, **rest, **kept}
        case Media():
            data = None if block.data is None else to_base64(block.data)
            source = _present({"data": data, "url": block.url, "file_id": block.file_id, "name": block.name})
            return {"type": "media", "kind": block.kind, "mime": block.mime, **source, **kept}
        case Other():
            return {"type": "other", "of": block.type, **_present({"extra": block.extra}), "raw": block.raw}


def decode_block(item: Json, where: str) -> Block:
    item = as_dict(item, where)
    extra, raw = item.get("extra"), item.get("raw")

    def text(key: str) -> str:
        return as_text(item.get(key), f"{where}.{key}")

    match item.get("type"):
        case "text":
            return Text(text("text"), extra, raw)
        case "thinking":
            return Thinking(text("text"), extra, raw)
        case "tool_call":
            return ToolCall(text("call_id"), text("name"), text("arguments"), extra, raw)
        case "tool_result":
            name = text_or_none(item.get("name"))
            return ToolResult(text("call_id"), _decode_content(item, where), bool(item.get("error")), name, extra, raw)
        case "media":
            return _decode_media(item, where)
        case "other":
            return Other(text("of"), raw, extra)
        case kind:
            raise FormatError(f"{where} has the type {kind!r}, which bough does not know.")


def _decode_content(item: dict[str, Json], where: str) -> tuple[Text | Media | Other, ...]:
    content: list[Text | Media | Other] = []
    for position, part in enumerate(as_list(item.get("content"), f"{where}.content")):
        block = decode_block(part, f"{where}.content[{position}]")
        if not isinstance(block, (Text, Media, Other)):
            raise FormatError(f"{where}.content[{position}] cannot be inside a tool result.")
        content.append(block)
    return tuple(content)


def _decode_media(item: dict[str, Json], where: str) -> Media:
    kind: Any = item.get("kind")
    if kind not in get_args(MediaKind):
        raise FormatError(f"{where} is media of the kind {kind!r}, which bough does not know.")
    data = item.get("data")
    held = None if data is None else from_base64(data)
    if data is not None and held is None:
        raise FormatError(f"{where}.data is not base64.")
    url, file_id, name = (text_or_none(item.get(key)) for key in ("url", "file_id", "name"))
    mime = as_text(item.get("mime"), f"{where}.mime")
    try:
        return Media(kind, mime, held, url, file_id, name, item.get("extra"), item.get("raw"))
    except ValueError as error:
        raise FormatError(f"{where}: {error}.") from None


def _present(fields: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}


FORMAT = JsonLines()
