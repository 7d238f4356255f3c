"""Encode tool calls, tool results and media of other formats as Bedrock's content blocks."""

from __future__ import annotations

import re

from bough.formats.bedrock.json_bytes import wrap_bytes
from bough.formats.encoder import Encoder
from bough.formats.media import NAMES
from bough.model import Json, Media, Other, Role, Text, ToolCall, ToolResult


def text_block(text: str) -> dict[str, Json]:
    return {"text": text}


def encode_block(block: ToolCall | ToolResult | Media, role: Role, encoder: Encoder) -> list[Json]:
    match block:
        case ToolCall():
            call_id, name = encoder.ids.call(block.call_id), encoder.tool_name(block.name)
            return [{"toolUse": {"toolUseId": call_id, "name": name, "input": encoder.arguments(block)}}]
        case ToolResult():
            return [_result(block, encoder)]
        case Media():
            # Rule 9: only user messages may have media.
            return _media(block, encoder) if role == "user" else [text_block(encoder.describe(block))]


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    content: list[Json] = []
    for part in result.content:
        content += _part(part, encoder)
    body = {"toolUseId": encoder.ids.result(result.call_id), "content": content or [text_block("(no output)")]}
    return {"toolResult": {**body, "status": "error"} if result.error else body}


def _part(part: Text | Media | Other, encoder: Encoder) -> list[Json]:
    kept = encoder.own(part.raw)
    if kept is not None:
        return [kept]
    match part:
        case Text():
            return [text_block(part.text)] if part.text.strip() else []
        case Media(kind="audio"):
            return [text_block(encoder.describe(part))]
        case Media():
            return _media(part, encoder)[:1]
        case Other():
            encoder.lose_other(part.type)
            return []


def _media(media: Media, encoder: Encoder) -> list[Json]:
    format_name = NAMES.get(media.mime)
    source = _source(media)
    if source is None or format_name is None:
        return [text_block(encoder.describe(media))]
    if media.kind != "document":
        return [{media.kind: {"format": format_name, "source": source}}]
    name = re.sub(r"[^a-zA-Z0-9\-()\[\] ]+", " ", media.name or "").strip() or "document"
    # Rule 9: a document is refused without text in the same message.
    return [{"document": {"format": format_name, "name": name, "source": source}}, text_block(f"[document: {name}]")]


def _source(media: Media) -> dict[str, Json] | None:
    if media.data:
        return {"bytes": wrap_bytes(media.data)}
    if media.url and media.url.startswith("s3://"):
        return {"s3Location": {"uri": media.url}}
    return None
