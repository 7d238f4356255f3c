"""Anthropic's content blocks, one by one."""

from __future__ import annotations

from bough.formats.encoding import Rendering
from bough.formats.media import from_base64, to_base64
from bough.formats.payload import as_dict, as_list, as_text, at, text_or_none, written
from bough.model import Block, Json, Media, Other, Role, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "anthropic"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def text_block(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def read_block(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    match as_text(item.get("type"), f"{where}.type"):
        case "text":
            return Text(as_text(item.get("text"), f"{where}.text"), raw=raw)
        case "thinking":
            return Thinking(as_text(item.get("thinking"), f"{where}.thinking"), raw=raw)
        case "redacted_thinking":
            return Thinking("", raw=raw)
        case "tool_use":
            return _read_call(item, where)
        case "tool_result":
            return _read_result(item, where)
        case "image" | "document" as kind:
            return _read_media(item) or Other(kind, raw)
        case kind:
            return Other(kind, raw)


def _read_call(item: dict[str, Json], where: str) -> ToolCall:
    arguments = as_dict(item.get("input"), f"{where}.input")
    call_id, name = as_text(item.get("id"), f"{where}.id"), as_text(item.get("name"), f"{where}.name")
    return ToolCall(call_id, name, written(arguments), raw={FAMILY: item})


def _read_result(item: dict[str, Json], where: str) -> ToolResult:
    content = item.get("content")
    parts: list[Text | Media | Other] = []
    if isinstance(content, str):
        parts.append(Text(content))
    elif content is not None:
        for position, part in enumerate(as_list(content, f"{where}.content")):
            parts.append(_read_part(as_dict(part, f"{where}.content[{position}]"), f"{where}.content[{position}]"))
    call_id = as_text(item.get("tool_use_id"), f"{where}.tool_use_id")
    return ToolResult(call_id, tuple(parts), bool(item.get("is_error")), raw={FAMILY: item})


def _read_part(item: dict[str, Json], where: str) -> Text | Media | Other:
    block = read_block(item, where)
    if isinstance(block, (Text, Media)):
        return replace(block, raw=None)  # the whole result is kept already
    return block if isinstance(block, Other) else Other(item["type"], {FAMILY: item})


def _read_media(item: dict[str, Json]) -> Media | None:
    """An image or a document, or None when its source is of a kind that bough does not know."""
    source, raw, name = item.get("source"), {FAMILY: item}, text_or_none(item.get("title"))
    kind, mime = item["type"], text_or_none(at(source, "media_type")) or ""
    match at(source, "type"):
        case "base64" if (data := from_base64(at(source, "data"))) is not None:
            return Media(kind, mime, data=data, name=name, raw=raw)
        case "text" if isinstance(text := at(source, "data"), str):
            return Media(kind, mime or "text/plain", data=text.encode("utf-8", "surrogatepass"), name=name, raw=raw)
        case "url" if isinstance(url := at(source, "url"), str):
            return Media(kind, mime, url=url, name=name, raw=raw)
        case "file" if isinstance(file_id := at(source, "file_id"), str):
            return Media(kind, mime, file_id=file_id, name=name, raw=raw)
    return None


def write_block(block: Block, role: Role, rendering: Rendering) -> list[Json]:
    """A block of another family in Anthropic's words; nothing when it cannot be said."""
    rendering.lose_marks(block)
    match block:
        case Text():
            return [text_block(block.text)] if block.text.strip() else []
        case Thinking():
            rendering.lose("dropped_thinking", "another model's reasoning")
            return []
        case ToolCall():
            return [
                {
                    "type": "tool_use",
                    "id": rendering.ids.call(block.call_id),
                    "name": rendering.tool_name(block.name),
                    "input": rendering.arguments(block),
                }
            ]
        case ToolResult():
            return [_result(block, rendering)]
        case Media():
            return [_media(block, rendering) if role == "user" else text_block(rendering.described(block))]
        case Other():
            rendering.lose_other(block.type)
            return []


def _result(result: ToolResult, rendering: Rendering) -> dict[str, Json]:
    content: list[Json] = []
    for part in result.content:
        content += _part(part, rendering)
    answers = rendering.ids.result(result.call_id)
    if result.error:
        # A failed result must not be empty.
        content = content or [text_block("error")]
        return {"type": "tool_result", "tool_use_id": answers, "content": content, "is_error": True}
    return {"type": "tool_result", "tool_use_id": answers, "content": content}


def _part(part: Text | Media | Other, rendering: Rendering) -> list[Json]:
    kept = rendering.own(part.raw)
    if kept is not None:
        return [kept]
    match part:
        case Text():
            return [text_block(part.text)] if part.text.strip() else []
        case Media():
            return [_media(part, rendering)]
        case Other():
            rendering.lose_other(part.type)
            return []


def _media(media: Media, rendering: Rendering) -> dict[str, Json]:
    source = _source(media)
    if source is None:
        return text_block(rendering.described(media))
    item: dict[str, Json] = {"type": "image" if media.kind == "image" else "document", "source": source}
    if media.name and media.kind == "document":
        item["title"] = media.name
    return item


def _source(media: Media) -> dict[str, Json] | None:
    """Where Anthropic would find the media, or None when it takes no such thing."""
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
