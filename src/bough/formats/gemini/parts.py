"""Gemini's parts: objects whose keys say what they are, with a signature on any of them."""

from __future__ import annotations

from bough.formats.encoding import Rendering
from bough.formats.media import from_base64, kind_of, to_base64
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, Other, Role, Text, Thinking, ToolCall, ToolResult

FAMILY = "gemini"
UNSIGNED = "skip_thought_signature_validator"
"""What Gemini 3 and later accept instead of a signature on a call that they did not make."""
SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "fileUri": "file_uri",
    "mimeType": "mime_type",
    "displayName": "display_name",
    "thoughtSignature": "thought_signature",
}
"""The other spelling of these keys, which the API and its SDK accept as well."""


def field(item: Json, key: str) -> Json:
    """A field of a part in either spelling, or None."""
    found = at(item, key)
    return at(item, SNAKE[key]) if found is None and key in SNAKE else found


def text_part(text: str) -> dict[str, Json]:
    return {"text": text}


def read_part(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    if (call := field(item, "functionCall")) is not None:
        return _read_call(as_dict(call, f"{where}.functionCall"), raw, where)
    if (response := field(item, "functionResponse")) is not None:
        return _read_response(as_dict(response, f"{where}.functionResponse"), raw, where)
    if "text" in item:
        text = as_text(item["text"], f"{where}.text")
        return Thinking(text, raw=raw) if item.get("thought") else Text(text, raw=raw)
    return _read_media(item, raw) or Other(next(iter(item), "empty"), raw)


def _read_call(call: dict[str, Json], raw: Json, where: str) -> ToolCall:
    name = as_text(call.get("name"), f"{where}.functionCall.name")
    # A call may come without an id; the message as a whole then gives it one.
    return ToolCall(text_or_none(call.get("id")) or "", name, written(call.get("args") or {}), raw=raw)


def _read_response(response: dict[str, Json], raw: Json, where: str) -> ToolResult:
    name = as_text(response.get("name"), f"{where}.functionResponse.name")
    body = response.get("response")
    content: list[Text | Media | Other] = [Text(_answer(body))]
    for value in optional_list(response.get("parts"), f"{where}.functionResponse.parts"):
        part = as_dict(value, f"{where}.functionResponse.parts[]")
        content.append(_read_media(part, None) or Other(next(iter(part), "empty"), {FAMILY: part}))
    error = bool(at(body, "error"))
    return ToolResult(text_or_none(response.get("id")) or "", tuple(content), error, name, raw=raw)


def _answer(body: Json) -> str:
    """A tool's answer: by convention under one key, else the whole object."""
    if isinstance(body, dict) and len(body) == 1:
        value = next((body[key] for key in ("output", "result", "error") if key in body), None)
        if isinstance(value, str):
            return value
    return written(body)


def _read_media(item: Json, raw: Json) -> Media | None:
    inline, file = field(item, "inlineData"), field(item, "fileData")
    mime = text_or_none(field(inline or file, "mimeType")) or ""
    name = text_or_none(field(inline or file, "displayName"))
    if (data := from_base64(at(inline, "data"))) is not None:
        return Media(kind_of(mime), mime, data=data, name=name, raw=raw)
    if isinstance(uri := field(file, "fileUri"), str):
        return Media(kind_of(mime), mime, url=uri, name=name, raw=raw)
    return None


def write_part(block: Block, role: Role, rendering: Rendering) -> list[Json]:
    """A block of another family in Gemini's words; nothing when it cannot be said."""
    rendering.lose_marks(block)
    match block:
        case Text():
            return [text_part(block.text)] if block.text.strip() else []
        case Thinking():
            rendering.lose("dropped_thinking", "another model's reasoning")
            return []
        case ToolCall():
            return [_call(block, rendering)]
        case ToolResult():
            return [_response(block, rendering)]
        case Media() if role in ("user", "assistant"):
            return [_media(block) or text_part(rendering.described(block))]
        case Media():
            return [text_part(rendering.described(block))]
        case Other():
            rendering.lose_other(block.type)
            return []


def _call(call: ToolCall, rendering: Rendering) -> dict[str, Json]:
    name = rendering.tool_name(call.name, allowed="a-zA-Z0-9_.:-")
    body = {"name": name, "args": rendering.arguments(call)}
    if call.call_id:
        body["id"] = call.call_id
    if rendering.calls_in_message > 1:
        return {"functionCall": body}  # of parallel calls only the first is signed
    return {"functionCall": body, "thoughtSignature": UNSIGNED}


def _response(result: ToolResult, rendering: Rendering) -> dict[str, Json]:
    text, parts = [], []
    for part in result.content:
        kept = rendering.own(part.raw)
        if kept is not None:
            parts.append(kept)
        elif isinstance(part, Text):
            text.append(part.text)
        elif isinstance(part, Other):
            rendering.lose_other(part.type)
        elif (media := _media(part)) and "inlineData" in media:
            parts.append(media)
        else:
            text.append(rendering.described(part, "tool_image_flattened"))
    body: dict[str, Json] = {"name": _name(result, rendering)}
    if result.call_id and _has_id(result, rendering):
        body["id"] = result.call_id
    body["response"] = {"error" if result.error else "output": "\n".join(text)}
    return {"functionResponse": {**body, "parts": parts} if parts else body}


def _name(result: ToolResult, rendering: Rendering) -> str:
    """Gemini tells results by the name of the function, which is the call's."""
    call = rendering.calls.get(result.call_id)
    name = call.name if call else result.name or result.call_id
    if call and rendering.own(call.raw) is not None:
        return name
    return rendering.tool_name(name, allowed="a-zA-Z0-9_.:-")


def _has_id(result: ToolResult, rendering: Rendering) -> bool:
    """Whether the call that this answers went out with an id."""
    call = rendering.calls.get(result.call_id)
    item = rendering.own(call.raw) if call else None
    return item is None or bool(at(field(item, "functionCall"), "id"))


def _media(media: Media) -> dict[str, Json] | None:
    if media.data and media.mime:
        body = {"mimeType": media.mime, "data": to_base64(media.data)}
        return {"inlineData": {**body, "displayName": media.name} if media.name else body}
    if media.url is not None:
        return {"fileData": {"fileUri": media.url, **({"mimeType": media.mime} if media.mime else {})}}
    return None
