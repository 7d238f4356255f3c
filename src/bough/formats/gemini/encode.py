"""Encode tool calls, tool results and media of other formats as Gemini's parts."""

from __future__ import annotations

from bough.formats.encoder import Encoder
from bough.formats.gemini.decode import field
from bough.formats.media import to_base64
from bough.formats.payload import at
from bough.model import Json, Media, Other, Role, Text, ToolCall, ToolResult

UNSIGNED = "skip_thought_signature_validator"
"""Placeholder signature, which Gemini 3 and later accept on calls of other models (rule 12)."""


def text_part(text: str) -> dict[str, Json]:
    return {"text": text}


def encode_part(block: ToolCall | ToolResult | Media, role: Role, encoder: Encoder) -> list[Json]:
    match block:
        case ToolCall():
            return [_call(block, encoder)]
        case ToolResult():
            return [_response(block, encoder)]
        case Media() if role in ("user", "assistant"):
            return [_media(block) or text_part(encoder.describe(block))]
        case Media():
            return [text_part(encoder.describe(block))]


def _call(call: ToolCall, encoder: Encoder) -> dict[str, Json]:
    name = encoder.tool_name(call.name, allowed="a-zA-Z0-9_.:-")
    body = {"name": name, "args": encoder.arguments(call)}
    if call.call_id:
        body["id"] = call.call_id
    if encoder.calls_in_message > 1:
        return {"functionCall": body}  # rule 12: only the first of parallel calls is signed
    return {"functionCall": body, "thoughtSignature": UNSIGNED}


def _response(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    text, parts = [], []
    for part in result.content:
        kept = encoder.own(part.raw)
        if kept is not None:
            parts.append(kept)
        elif isinstance(part, Text):
            text.append(part.text)
        elif isinstance(part, Other):
            encoder.lose_other(part.type)
        elif (media := _media(part)) and "inlineData" in media:
            parts.append(media)
        else:
            text.append(encoder.describe(part, "tool_image_flattened"))
    body: dict[str, Json] = {"name": _name(result, encoder)}
    if result.call_id and _has_id(result, encoder):
        body["id"] = result.call_id
    body["response"] = {"error" if result.error else "output": "\n".join(text)}
    return {"functionResponse": {**body, "parts": parts} if parts else body}


def _name(result: ToolResult, encoder: Encoder) -> str:
    """The name of the function, which Gemini requires in a result: that of its call, if known."""
    call = encoder.calls.get(result.call_id)
    name = call.name if call else result.name or result.call_id
    if call and encoder.own(call.raw) is not None:
        return name
    return encoder.tool_name(name, allowed="a-zA-Z0-9_.:-")


def _has_id(result: ToolResult, encoder: Encoder) -> bool:
    """Whether the call of this result is sent with an id; the result must then have it, and else must not."""
    call = encoder.calls.get(result.call_id)
    item = encoder.own(call.raw) if call else None
    return item is None or bool(at(field(item, "functionCall"), "id"))


def _media(media: Media) -> dict[str, Json] | None:
    if media.data and media.mime:
        body = {"mimeType": media.mime, "data": to_base64(media.data)}
        return {"inlineData": {**body, "displayName": media.name} if media.name else body}
    if media.url is not None:
        return {"fileData": {"fileUri": media.url, **({"mimeType": media.mime} if media.mime else {})}}
    return None
