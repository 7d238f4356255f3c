"""Decode Gemini's parts: objects whose keys are their type; any of them may carry a signature."""

from __future__ import annotations

from bough.formats.media import from_base64, kind_of
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, Other, Text, Thinking, ToolCall, ToolResult

FAMILY = "gemini"
SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "fileUri": "file_uri",
    "mimeType": "mime_type",
    "displayName": "display_name",
    "thoughtSignature": "thought_signature",
    "audioTranscription": "audio_transcription",
}
"""The snake_case spelling of these keys, which the API and its SDK accept as well."""
REMARKS = {
    "thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata", "mediaResolution",
    "media_resolution", "videoMetadata", "video_metadata", "speechMetadata", "speech_metadata",
}  # fmt: skip
"""Keys that any part may have beside the one that says what it is."""


def field(item: Json, key: str) -> Json:
    """A field of a part in either spelling, or None."""
    found = at(item, key)
    return at(item, SNAKE[key]) if found is None and key in SNAKE else found


def decode_part(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    if (call := field(item, "functionCall")) is not None:
        return _decode_call(as_dict(call, f"{where}.functionCall"), raw, where)
    if (response := field(item, "functionResponse")) is not None:
        return _decode_response(as_dict(response, f"{where}.functionResponse"), raw, where)
    if "text" in item:
        text = as_text(item["text"], f"{where}.text")
        return Thinking(text, raw=raw) if item.get("thought") else Text(text, raw=raw)
    if isinstance(text := at(field(item, "audioTranscription"), "text"), str):
        return Text(text, raw=raw)
    return _decode_media(item, raw) or Other(_kind(item), raw)


def _kind(item: dict[str, Json]) -> str:
    """What a part is: its key that is no remark on it."""
    kinds = (key for key in item if key not in REMARKS)
    return next(kinds, next(iter(item), "empty"))


def _decode_call(call: dict[str, Json], raw: Json, where: str) -> ToolCall:
    name = as_text(call.get("name"), f"{where}.functionCall.name")
    if call.get("id") is not None:
        as_text(call["id"], f"{where}.functionCall.id")
    # A call may lack an id; `with_call_ids` adds it, because it must be unique in the message.
    return ToolCall(text_or_none(call.get("id")) or "", name, written(call.get("args") or {}), raw=raw)


def _decode_response(response: dict[str, Json], raw: Json, where: str) -> ToolResult:
    name = as_text(response.get("name"), f"{where}.functionResponse.name")
    body = response.get("response")
    content: list[Text | Media | Other] = [Text(_result_text(body))]
    for value in optional_list(response.get("parts"), f"{where}.functionResponse.parts"):
        part = as_dict(value, f"{where}.functionResponse.parts[]")
        content.append(_decode_media(part, None) or Other(next(iter(part), "empty"), {FAMILY: part}))
    error = bool(at(body, "error"))
    return ToolResult(text_or_none(response.get("id")) or "", tuple(content), error, name, raw=raw)


def _result_text(body: Json) -> str:
    """The text of a result: by convention under one key, else the whole object as JSON."""
    if isinstance(body, dict) and len(body) == 1:
        value = next((body[key] for key in ("output", "result", "error") if key in body), None)
        if isinstance(value, str):
            return value
    return written(body)


def _decode_media(item: Json, raw: Json) -> Media | None:
    inline, file = field(item, "inlineData"), field(item, "fileData")
    mime = text_or_none(field(inline or file, "mimeType")) or ""
    name = text_or_none(field(inline or file, "displayName"))
    if (data := from_base64(at(inline, "data"))) is not None:
        return Media(kind_of(mime), mime, data=data, name=name, raw=raw)
    if isinstance(uri := field(file, "fileUri"), str):
        return Media(kind_of(mime), mime, url=uri, name=name, raw=raw)
    return None
