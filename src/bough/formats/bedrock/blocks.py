"""Bedrock's content blocks: objects of one key that says what they are."""

from __future__ import annotations

import re

from bough.formats.bedrock.held_bytes import held, hold
from bough.formats.encoding import Rendering
from bough.formats.media import FORMATS, NAMES, from_base64
from bough.formats.payload import as_dict, as_list, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, MediaKind, Other, Role, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "bedrock"
MEDIA: tuple[MediaKind, ...] = ("image", "document", "video", "audio")


def text_block(text: str) -> dict[str, Json]:
    return {"text": text}


def read_block(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    match _kind(item):
        case "text":
            return Text(as_text(item["text"], f"{where}.text"), raw=raw)
        case "reasoningContent":
            return Thinking(text_or_none(at(item, "reasoningContent", "reasoningText", "text")) or "", raw=raw)
        case "citationsContent":
            parts = optional_list(at(item, "citationsContent", "content"), f"{where}.citationsContent.content")
            return Text("".join(text_or_none(at(part, "text")) or "" for part in parts), raw=raw)
        case "toolUse":
            return _read_call(item, where)
        case "toolResult":
            return _read_result(item, where)
        case "image" | "document" | "video" | "audio" as kind:
            return _read_media(kind, item) or Other(kind, raw)
        case kind:
            return Other(kind, raw)


def _kind(item: dict[str, Json]) -> str:
    known = ("text", "toolUse", "toolResult", "reasoningContent", "citationsContent", *MEDIA)
    return next((key for key in known if key in item), next(iter(item), "empty"))


def _read_call(item: dict[str, Json], where: str) -> Block:
    call = as_dict(item["toolUse"], f"{where}.toolUse")
    if call.get("type") == "server_tool_use":
        return Other("server_tool_use", {FAMILY: item})  # answered by the provider itself
    call_id = as_text(call.get("toolUseId"), f"{where}.toolUse.toolUseId")
    name = as_text(call.get("name"), f"{where}.toolUse.name")
    return ToolCall(call_id, name, written(call.get("input")), raw={FAMILY: item})


def _read_result(item: dict[str, Json], where: str) -> Block:
    result = as_dict(item["toolResult"], f"{where}.toolResult")
    if result.get("type"):
        return Other(str(result["type"]), {FAMILY: item})
    content = as_list(result.get("content"), f"{where}.toolResult.content")
    parts = tuple(_read_part(as_dict(part, f"{where}.toolResult.content"), where) for part in content)
    call_id = as_text(result.get("toolUseId"), f"{where}.toolResult.toolUseId")
    return ToolResult(call_id, parts, result.get("status") == "error", raw={FAMILY: item})


def _read_part(item: dict[str, Json], where: str) -> Text | Media | Other:
    if "json" in item:
        return Text(written(item["json"]))
    block = read_block(item, where)
    if isinstance(block, (Text, Media)):
        return replace(block, raw=None)  # the whole result is kept already
    return block if isinstance(block, Other) else Other(_kind(item), {FAMILY: item})


def _read_media(kind: MediaKind, item: dict[str, Json]) -> Media | None:
    """Media by its bytes or its place in S3; None for any other source."""
    body, raw = item[kind], {FAMILY: item}
    format_name = text_or_none(at(body, "format")) or ""
    mime, name = FORMATS.get(format_name, format_name), text_or_none(at(body, "name"))
    source = at(body, "source", "bytes")
    data = from_base64(source) if isinstance(source, str) else held(source)
    if data is not None:
        return Media(kind, mime, data=data, name=name, raw=raw)
    if isinstance(uri := at(body, "source", "s3Location", "uri"), str):
        return Media(kind, mime, url=uri, name=name, raw=raw)
    return None


def write_block(block: Block, role: Role, rendering: Rendering) -> list[Json]:
    """A block of another family in Bedrock's words; nothing when it cannot be said."""
    rendering.lose_marks(block)
    match block:
        case Text():
            return [text_block(block.text)] if block.text.strip() else []
        case Thinking():
            rendering.lose("dropped_thinking", "another model's reasoning")
            return []
        case ToolCall():
            call_id, name = rendering.ids.call(block.call_id), rendering.tool_name(block.name)
            return [{"toolUse": {"toolUseId": call_id, "name": name, "input": rendering.arguments(block)}}]
        case ToolResult():
            return [_result(block, rendering)]
        case Media():
            # Only the user may show something.
            return _media(block, rendering) if role == "user" else [text_block(rendering.described(block))]
        case Other():
            rendering.lose_other(block.type)
            return []


def _result(result: ToolResult, rendering: Rendering) -> dict[str, Json]:
    content: list[Json] = []
    for part in result.content:
        content += _part(part, rendering)
    body = {"toolUseId": rendering.ids.result(result.call_id), "content": content or [text_block("(no output)")]}
    return {"toolResult": {**body, "status": "error"} if result.error else body}


def _part(part: Text | Media | Other, rendering: Rendering) -> list[Json]:
    kept = rendering.own(part.raw)
    if kept is not None:
        return [kept]
    match part:
        case Text():
            return [text_block(part.text)] if part.text.strip() else []
        case Media(kind="audio"):
            return [text_block(rendering.described(part))]
        case Media():
            return _media(part, rendering)[:1]
        case Other():
            rendering.lose_other(part.type)
            return []


def _media(media: Media, rendering: Rendering) -> list[Json]:
    format_name = NAMES.get(media.mime)
    source = _source(media)
    if source is None or format_name is None:
        return [text_block(rendering.described(media))]
    if media.kind != "document":
        return [{media.kind: {"format": format_name, "source": source}}]
    name = re.sub(r"[^a-zA-Z0-9\-()\[\] ]+", " ", media.name or "").strip() or "document"
    # A document is refused without words beside it.
    return [{"document": {"format": format_name, "name": name, "source": source}}, text_block(f"[document: {name}]")]


def _source(media: Media) -> dict[str, Json] | None:
    if media.data:
        return {"bytes": hold(media.data)}
    if media.url and media.url.startswith("s3://"):
        return {"s3Location": {"uri": media.url}}
    return None
