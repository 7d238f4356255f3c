"""Encode tool calls, tool results and media of other formats as Anthropic's content blocks."""

from __future__ import annotations

from bough.formats.encoder import Encoder
from bough.formats.media import to_base64
from bough.model import Json, Media, Other, Role, Text, ToolCall, ToolResult

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def text_block(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def encode_block(block: ToolCall | ToolResult | Media, role: Role, encoder: Encoder) -> list[Json]:
    match block:
        case ToolCall():
            return [
                {
                    "type": "tool_use",
                    "id": encoder.ids.call(block.call_id),
                    "name": encoder.tool_name(block.name),
                    "input": encoder.arguments(block),
                }
            ]
        case ToolResult():
            return [_result(block, encoder)]
        case Media():
            return [_media(block, encoder) if role == "user" else text_block(encoder.describe(block))]


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    content: list[Json] = []
    for part in result.content:
        content += _part(part, encoder)
    answers = encoder.ids.result(result.call_id)
    if result.error:
        # Rule 6: a failed result must not be empty.
        content = content or [text_block("error")]
        return {"type": "tool_result", "tool_use_id": answers, "content": content, "is_error": True}
    return {"type": "tool_result", "tool_use_id": answers, "content": content}


def _part(part: Text | Media | Other, encoder: Encoder) -> list[Json]:
    kept = encoder.own(part.raw)
    if kept is not None:
        return [kept]
    match part:
        case Text():
            return [text_block(part.text)] if part.text.strip() else []
        case Media():
            return [_media(part, encoder)]
        case Other():
            encoder.lose_other(part.type)
            return []


def _media(media: Media, encoder: Encoder) -> dict[str, Json]:
    source = _source(media)
    if source is None:
        return text_block(encoder.describe(media))
    item: dict[str, Json] = {"type": "image" if media.kind == "image" else "document", "source": source}
    if media.name and media.kind == "document":
        item["title"] = media.name
    return item


def _source(media: Media) -> dict[str, Json] | None:
    """The source of an image or document; None for media that Anthropic does not take."""
    if media.kind not in ("image", "document"):
        return None
    if media.url is not None:
        return {"type": "url", "url": media.url} if media.url.startswith(("https:", "http:")) else None
    if not media.data:
        return None
    if media.mime in IMAGES if media.kind == "image" else media.mime == "application/pdf":
        return {"type": "base64", "media_type": media.mime, "data": to_base64(media.data)}
    if media.kind == "document" and media.mime == "text/plain":
        return _text_source(media.data)
    return None


def _text_source(data: bytes) -> dict[str, Json] | None:
    try:
        return {"type": "text", "media_type": "text/plain", "data": data.decode()}
    except UnicodeDecodeError:
        return None
