"""Decode Anthropic's content blocks."""

from __future__ import annotations

from bough.formats.content import decode_content
from bough.formats.media import from_base64
from bough.formats.payload import as_dict, as_text, at, text_or_none, written
from bough.model import Block, Json, Media, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "anthropic"


def decode_block(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    match as_text(item.get("type"), f"{where}.type"):
        case "text":
            return Text(as_text(item.get("text"), f"{where}.text"), raw=raw)
        case "thinking":
            return Thinking(as_text(item.get("thinking"), f"{where}.thinking"), raw=raw)
        case "redacted_thinking":
            return Thinking("", raw=raw)
        case "tool_use":
            return _decode_call(item, where)
        case "tool_result":
            return _decode_result(item, where)
        case "image" | "document" as kind:
            return _decode_media(item) or Other(kind, raw)
        case "search_result":
            return Text(_found_text(item), raw=raw)
        case "container_upload" if isinstance(file_id := item.get("file_id"), str):
            return Media("document", "", file_id=file_id, raw=raw)
        case kind:
            return Other(kind, raw)


def _found_text(item: dict[str, Json]) -> str:
    """The title, source and text of a search result."""
    content = item.get("content")
    texts = [at(part, "text") for part in content] if isinstance(content, list) else []
    return "\n".join(text for text in (item.get("title"), item.get("source"), *texts) if isinstance(text, str) and text)


def _decode_call(item: dict[str, Json], where: str) -> ToolCall:
    arguments = as_dict(item.get("input"), f"{where}.input")
    call_id, name = as_text(item.get("id"), f"{where}.id"), as_text(item.get("name"), f"{where}.name")
    return ToolCall(call_id, name, written(arguments), raw={FAMILY: item})


def _decode_result(item: dict[str, Json], where: str) -> ToolResult:
    parts = decode_content(item.get("content"), f"{where}.content", _decode_part)
    call_id = as_text(item.get("tool_use_id"), f"{where}.tool_use_id")
    return ToolResult(call_id, tuple(parts), bool(item.get("is_error")), raw={FAMILY: item})


def _decode_part(item: dict[str, Json], where: str) -> Text | Media | Other:
    block = decode_block(item, where)
    if isinstance(block, (Text, Media)):
        return replace(block, raw=None)  # the raw of the whole result includes it
    return block if isinstance(block, Other) else Other(item["type"], {FAMILY: item})


def _decode_media(item: dict[str, Json]) -> Media | None:
    """An image or a document; None if its source is of an unknown type."""
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
