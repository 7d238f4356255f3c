"""Decode the steps of an interaction.

Consecutive steps of the model are one assistant message. A step is a block with the step as its `raw`; an output of
several contents is a block for each, of which those after the first have `{"$content": …}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.errors import FormatError
from bough.formats.call_ids import with_call_ids, with_ids
from bough.formats.content import decode_content, unreadable
from bough.formats.encoder import emptied
from bough.formats.media import from_base64
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "gemini.interactions"
CONTENTS = "contents"
"""Envelope of a user's message that is the whole input, as contents without a step around them."""
MORE = "$content"
"""Key in the `raw` of a further content of an output."""
_CONTENT = ("text", "image", "audio", "video", "document")
_MEDIA = _CONTENT[1:]


def decode_input(items: Json) -> tuple[Message, ...]:
    """The messages of an input: steps, contents of the user, one content, or a string. Raises `FormatError`."""
    if isinstance(items, str):
        items = [{"type": "user_input", "content": [{"type": "text", "text": items}]}]
    elif isinstance(items, dict):
        items = [items]
    listed = [as_dict(item, f"input[{place}]") for place, item in enumerate(optional_list(items, "input"))]
    if listed and all(at(item, "type") in _CONTENT and "role" not in item for item in listed):
        blocks = tuple(decode_content(listed, "input", decode_part))
        return (Message("user", blocks, envelope={FAMILY: CONTENTS}),)
    return with_call_ids(_grouped([_decode_item(item, f"input[{place}]") for place, item in enumerate(listed)]))


def decode_outputs(items: Sequence[Json]) -> tuple[Message, ...]:
    """The message of a reply, which is never refused. The user's steps that it repeats are left out."""
    blocks: list[Block] = []
    for place, item in enumerate(items):
        try:
            step = _as_step(as_dict(item, f"reply.steps[{place}]"))
            if step.get("type") != "user_input":
                blocks += _decode_step(step, f"reply.steps[{place}]")
        except FormatError:
            blocks.append(unreadable(item))
    return (Message("assistant", with_ids(blocks)),) if blocks else ()


def _as_step(item: dict[str, Json]) -> dict[str, Json]:
    """A step; a content of the first version of the API as the output that it is."""
    return {"type": "model_output", "content": [item]} if item.get("type") in _CONTENT else item


def _grouped(pieces: list[Message]) -> tuple[Message, ...]:
    """The messages, with consecutive steps of the model, or results, as one."""
    messages: list[Message] = []
    for piece in pieces:
        before = messages[-1] if messages else None
        if before and before.role == piece.role and piece.envelope is None and before.envelope is None:
            messages[-1] = Message(piece.role, (*before.blocks, *piece.blocks))
        else:
            messages.append(piece)
    return tuple(messages)


def _decode_item(item: dict[str, Json], where: str) -> Message:
    kind, role = item.get("type"), item.get("role")
    if kind == "user_input" or (kind is None and role is not None):
        if kind is None and role not in ("user", "model"):
            raise FormatError(f"{where} has the role {role!r}, which Interactions does not know.")
        blocks = tuple(decode_content(item.get("content"), f"{where}.content", decode_part))
        return Message("assistant" if role == "model" else "user", blocks, envelope={FAMILY: emptied(item, "content")})
    if kind == "function_result":
        return Message("tool_result", (_decode_result(item, where),))
    return Message("assistant", tuple(_decode_step(item, where)))


def _decode_step(item: dict[str, Json], where: str) -> list[Block]:
    raw = {FAMILY: item}
    match as_text(item.get("type"), f"{where}.type"):
        case "model_output":
            return _decode_output(item, where)
        case "thought":
            parts = optional_list(item.get("summary"), f"{where}.summary")
            return [Thinking("\n\n".join(text for part in parts if (text := text_or_none(at(part, "text")))), raw=raw)]
        case "function_call":
            name = as_text(item.get("name"), f"{where}.name")
            call_id = "" if item.get("id") is None else as_text(item["id"], f"{where}.id")
            return [ToolCall(call_id, name, written(item.get("arguments") or {}), raw=raw)]
        case kind:
            return [Other(kind, raw)]


def _decode_output(item: dict[str, Json], where: str) -> list[Block]:
    content = item.get("content")
    if not isinstance(content, list) or not content:
        return [Other("model_output", {FAMILY: item})]
    parts = decode_content(content, f"{where}.content", decode_part)
    first = {FAMILY: {**item, "content": content[:1]}}
    more = [replace(part, raw={FAMILY: {MORE: one}}) for part, one in zip(parts, content, strict=True)]
    return [replace(parts[0], raw=first), *more[1:]]


def decode_part(part: dict[str, Json], where: str) -> Text | Media | Other:
    """Decode a content."""
    raw = {FAMILY: part}
    match as_text(part.get("type"), f"{where}.type"):
        case "text":
            return Text(as_text(part.get("text"), f"{where}.text"), raw=raw)
        case kind if kind in _MEDIA:
            return _decode_media(part, raw) or Other(kind, raw)
        case kind:
            return Other(kind, raw)


def _decode_media(part: dict[str, Json], raw: Json) -> Media | None:
    mime = text_or_none(part.get("mime_type")) or ""
    if (data := from_base64(part.get("data"))) is not None:
        return Media(part["type"], mime, data=data, raw=raw)
    uri = part.get("uri")
    return Media(part["type"], mime, url=uri, raw=raw) if isinstance(uri, str) else None


def _decode_result(item: dict[str, Json], where: str) -> ToolResult:
    result = item.get("result")
    content: list[Text | Media | Other]
    if isinstance(result, list):
        parts = decode_content(result, f"{where}.result", decode_part)
        content = [part if isinstance(part, Other) else replace(part, raw=None) for part in parts]
    else:
        content = [Text(result if isinstance(result, str) else written(result))]
    call_id = as_text(item.get("call_id"), f"{where}.call_id")
    name = text_or_none(item.get("name"))
    return ToolResult(call_id, tuple(content), bool(item.get("is_error")), name, raw={FAMILY: item})
