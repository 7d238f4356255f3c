"""Decode Bedrock's content blocks: objects whose single key is their type."""

from __future__ import annotations

from bough.formats.bedrock.json_bytes import wrapped_bytes
from bough.formats.media import FORMATS, from_base64
from bough.formats.payload import as_dict, as_list, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, MediaKind, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "bedrock"
MEDIA: tuple[MediaKind, ...] = ("image", "document", "video", "audio")
KINDS = (
    "text", "toolUse", "toolResult", "reasoningContent", "citationsContent", *MEDIA, "searchResult", "guardContent",
    "cachePoint", "toolAddition", "toolRemoval",
)  # fmt: skip
"""Keys that say what a block is."""


def decode_block(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    match _kind(item):
        case "text":
            return Text(as_text(item["text"], f"{where}.text"), raw=raw)
        case "reasoningContent":
            return Thinking(text_or_none(at(item, "reasoningContent", "reasoningText", "text")) or "", raw=raw)
        case "citationsContent":
            parts = optional_list(at(item, "citationsContent", "content"), f"{where}.citationsContent.content")
            return Text("".join(text_or_none(at(part, "text")) or "" for part in parts), raw=raw)
        case "searchResult":
            return Text(_found_text(item["searchResult"]), raw=raw)
        case "guardContent":
            return _decode_guarded(item) or Other("guardContent", raw)
        case "toolUse":
            return _decode_call(item, where)
        case "toolResult":
            return _decode_result(item, where)
        case "image" | "document" | "video" | "audio" as kind:
            return _decode_media(kind, item) or Other(kind, raw)
        case kind:
            return Other(kind, raw)


def _kind(item: dict[str, Json]) -> str:
    return next((key for key in KINDS if key in item), next(iter(item), "empty"))


def _found_text(found: Json) -> str:
    """The title, source and text of a search result."""
    content = at(found, "content")
    texts = [at(part, "text") for part in content] if isinstance(content, list) else []
    return "\n".join(
        text for text in (at(found, "title"), at(found, "source"), *texts) if isinstance(text, str) and text
    )


def _decode_guarded(item: dict[str, Json]) -> Text | Media | None:
    """Text or an image that is marked for the guardrail."""
    guarded, raw = item["guardContent"], {FAMILY: item}
    if isinstance(text := at(guarded, "text", "text"), str):
        return Text(text, raw=raw)
    image = _decode_media("image", {"image": at(guarded, "image")})
    return replace(image, raw=raw) if image else None


def _decode_call(item: dict[str, Json], where: str) -> Block:
    call = as_dict(item["toolUse"], f"{where}.toolUse")
    if call.get("type") == "server_tool_use":
        return Other("server_tool_use", {FAMILY: item})  # the provider answers it, so it needs no result
    call_id = as_text(call.get("toolUseId"), f"{where}.toolUse.toolUseId")
    name = as_text(call.get("name"), f"{where}.toolUse.name")
    return ToolCall(call_id, name, written(call.get("input")), raw={FAMILY: item})


def _decode_result(item: dict[str, Json], where: str) -> Block:
    result = as_dict(item["toolResult"], f"{where}.toolResult")
    if result.get("type"):
        return Other(str(result["type"]), {FAMILY: item})
    content = as_list(result.get("content"), f"{where}.toolResult.content")
    parts = tuple(_decode_part(as_dict(part, f"{where}.toolResult.content"), where) for part in content)
    call_id = as_text(result.get("toolUseId"), f"{where}.toolResult.toolUseId")
    return ToolResult(call_id, parts, result.get("status") == "error", raw={FAMILY: item})


def _decode_part(item: dict[str, Json], where: str) -> Text | Media | Other:
    if "json" in item:
        return Text(written(item["json"]))
    block = decode_block(item, where)
    if isinstance(block, (Text, Media)):
        return replace(block, raw=None)  # the raw of the whole result includes it
    return block if isinstance(block, Other) else Other(_kind(item), {FAMILY: item})


def _decode_media(kind: MediaKind, item: dict[str, Json]) -> Media | None:
    """Media with bytes or an S3 URI; None for any other source."""
    body, raw = item[kind], {FAMILY: item}
    format_name = text_or_none(at(body, "format")) or ""
    mime, name = FORMATS.get(format_name, format_name), text_or_none(at(body, "name"))
    source = at(body, "source", "bytes")
    data = from_base64(source) if isinstance(source, str) else wrapped_bytes(source)
    if data is not None:
        return Media(kind, mime, data=data, name=name, raw=raw)
    if isinstance(uri := at(body, "source", "s3Location", "uri"), str):
        return Media(kind, mime, url=uri, name=name, raw=raw)
    return None
