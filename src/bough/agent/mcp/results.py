"""Decode results of MCP tools into blocks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bough.agent.tools import Content, Result
from bough.errors import ToolError
from bough.formats.media import from_base64, kind_of
from bough.model import Json, Media, Other, Text

if TYPE_CHECKING:
    from mcp.types import CallToolResult

LARGEST = 64 * 2**20
"""Characters of a result as JSON. A model reads a few hundred thousand."""
PROTOCOL = "io.modelcontextprotocol/"
"""Prefix of `_meta` keys that concern the connection, not the result."""


def decode_result(result: CallToolResult) -> Result:
    """Decode the result of a call. Data that is not content is kept in `extra`. Raises `ToolError` for a huge one."""
    size = len(result.model_dump_json(by_alias=True, exclude_none=True))
    if size > LARGEST:
        raise ToolError(f"The result has {size:,} characters, and {LARGEST:,} is the most; it was dropped.")
    fields = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    content = tuple(decode_block(item) for item in fields.get("content", ()))
    structured = fields.get("structuredContent")
    if not content and structured is not None:
        content = (Text(json.dumps(structured, ensure_ascii=False)),)
    meta = {key: one for key, one in fields.get("_meta", {}).items() if not key.startswith(PROTOCOL)}
    extra = {key: one for key, one in (("structuredContent", structured), ("_meta", meta or None)) if one is not None}
    return Result(content, result.is_error, {"mcp": extra} if extra else None)


def decode_block(item: Json) -> Content:
    """Decode one item. A resource becomes its content, a resource link becomes its address."""
    match item:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image" | "audio", "data": data, "mimeType": str(mime)}:
            return media(item, data, mime, None)
        case {"type": "resource", "resource": {"text": str(text), **rest}}:
            return Text(text, extra={"mcp": rest})
        case {"type": "resource", "resource": {"blob": data, "uri": uri, **rest}}:
            return media(item, data, str(rest.get("mimeType") or "application/octet-stream"), str(uri))
        case {"type": "resource_link", "uri": uri, **link}:
            named = link.get("title") or link.get("name") or "resource"
            about = f": {link['description']}" if link.get("description") else ""
            return Text(f"{named} <{uri}>{about}", extra={"mcp": item})
    return unknown(item)


def media(item: Json, data: Json, mime: str, name: str | None) -> Content:
    held = from_base64(data)
    return unknown(item) if held is None else Media(kind_of(mime), mime, data=held, name=name)


def unknown(item: Json) -> Other:
    return Other(f"mcp.{item.get('type', 'unknown')}" if isinstance(item, dict) else "mcp.unknown", {"mcp": item})
