"""Decode items of the Responses API.

Consecutive items of the model are one assistant message, one block per item, each with its item as `raw`. Their outputs
are one tool_result message. The envelope of a reply's message is `"reply"`: its items have some fields that a request
refuses, and lack some that it requires.
"""

from __future__ import annotations

import json

from bough.errors import FormatError
from bough.formats.call_ids import with_missing_ids
from bough.formats.content import decode_content, readable
from bough.formats.encoder import emptied
from bough.formats.media import from_base64, media_at
from bough.formats.openai_responses.calls import CALLS, call_key, is_call, is_output
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "openai.responses"
REPLY = "reply"
WORDS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
ROLES: dict[str, Role] = {"user": "user", "system": "system", "developer": "system"}


def decode_output(output: list[Json]) -> tuple[Message, ...]:
    """Decode the output of a reply as one message."""
    blocks = [readable(item, f"reply.output[{index}]", _decode_item) for index, item in enumerate(output)]
    return with_missing_ids([Message("assistant", tuple(blocks), envelope={FAMILY: REPLY})]) if blocks else ()


def decode_items(items: list[Json], where: str) -> tuple[Message, ...]:
    """Decode the items of a request, grouped into messages."""
    messages: list[Message] = []
    for position, value in enumerate(items):
        item = as_dict(value, f"{where}[{position}]")
        kind = _kind(item, f"{where}[{position}]")
        if kind == "message" and item.get("role") != "assistant":
            messages.append(_decode_message(item, f"{where}[{position}]"))
            continue
        role: Role = "tool_result" if is_output(kind, item) else "assistant"
        block = _decode_item(item, f"{where}[{position}]")
        if messages and messages[-1].role == role and messages[-1].envelope is None:
            messages[-1] = Message(role, (*messages[-1].blocks, block))
        else:
            messages.append(Message(role, (block,)))
    return with_missing_ids(messages)


def _kind(item: dict[str, Json], where: str) -> str:
    """The type of an item. A message may lack it."""
    if "type" not in item and "role" in item:
        return "message"
    if item.get("type") is None and "id" in item:
        return "item_reference"
    return as_text(item.get("type"), f"{where}.type")


def _decode_message(item: dict[str, Json], where: str) -> Message:
    name = as_text(item.get("role"), f"{where}.role")
    if name not in ROLES:
        raise FormatError(f"{where} has the role {name!r}, which Responses does not know.")
    blocks = tuple(decode_content(item.get("content"), f"{where}.content", _decode_content_part))
    return Message(ROLES[name], blocks, envelope={FAMILY: emptied(item, "content")})


def _decode_item(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    kind = _kind(item, where)
    if kind == "message":
        return Text(_message_text(item.get("content"), f"{where}.content"), raw=raw)
    if kind == "reasoning":
        return Thinking(_reasoning_text(item, where), raw=raw)
    if is_output(kind, item):
        return _decode_result(kind, item, where)
    if kind == "image_generation_call" and (data := from_base64(item.get("result"))) is not None:
        mime = f"image/{text_or_none(item.get('output_format')) or 'png'}"
        return Media("image", mime, data=data, raw=raw)
    return _decode_call(kind, item, where) or Other(kind, raw)


def _reasoning_text(item: dict[str, Json], where: str) -> str:
    """The reasoning if the provider returned it, else its summary; empty if it is only encrypted."""
    for key in ("content", "summary"):
        parts = optional_list(item.get(key), f"{where}.{key}")
        if parts:
            return "\n\n".join(str(as_dict(part, f"{where}.{key}").get("text") or "") for part in parts)
    return ""


def _decode_call(kind: str, item: dict[str, Json], where: str) -> ToolCall | None:
    """Decode a call; None for other items."""
    raw, call_id = {FAMILY: item}, call_key(kind, item) or ""
    match kind:
        case "function_call":
            arguments = as_text(item.get("arguments"), f"{where}.arguments")
            return ToolCall(call_id, as_text(item.get("name"), f"{where}.name"), arguments, raw=raw)
        case "custom_tool_call":
            arguments = as_text(item.get("input"), f"{where}.input")
            return ToolCall(call_id, as_text(item.get("name"), f"{where}.name"), arguments, raw=raw)
        case _ if is_call(kind, item):
            name, fields = CALLS[kind]
            # Sorted, because SDK objects order the fields differently from the wire.
            arguments = json.dumps(
                {key: item[key] for key in fields if key in item}, ensure_ascii=False, sort_keys=True
            )
            return ToolCall(call_id, name, arguments, raw=raw)
    return None


def _decode_result(kind: str, item: dict[str, Json], where: str) -> ToolResult:
    failed = item.get("status") == "failed" or item.get("approve") is False
    content = tuple(_decode_result_content(kind, item, where))
    return ToolResult(call_key(kind, item) or "", content, failed, raw={FAMILY: item})


def _decode_result_content(kind: str, item: dict[str, Json], where: str) -> list[Text | Media | Other]:
    output = item.get("output")
    match kind:
        case "mcp_approval_response":
            return [Text(text_or_none(item.get("reason")) or ("approved" if item.get("approve") else "denied"))]
        case "computer_call_output":
            screenshot = as_dict(output, f"{where}.output")
            return [_decode_image(screenshot, None) or Other("computer_screenshot", {FAMILY: screenshot})]
        case "shell_call_output" if isinstance(output, list):
            return [Text(f"{at(part, 'stdout') or ''}{at(part, 'stderr') or ''}") for part in output]
        case "tool_search_output":
            return [Text(json.dumps(item.get("tools"), ensure_ascii=False))]
        case _ if output is None:
            return []
    return [
        part if isinstance(part, Other) else replace(part, raw=None)  # the raw of the whole output includes it
        for part in decode_content(output, f"{where}.output", _decode_content_part)
    ]


def _decode_content_part(part: dict[str, Json], where: str) -> Text | Media | Other:
    raw = {FAMILY: part}
    match as_text(part.get("type"), f"{where}.type"):
        case kind if kind in WORDS:
            return Text(as_text(part.get(WORDS[kind]), f"{where}.{WORDS[kind]}"), raw=raw)
        case "input_image" | "computer_screenshot" as kind:
            return _decode_image(part, raw) or Other(kind, raw)
        case "input_file":
            return _decode_file(part, raw) or Other("input_file", raw)
        case "input_audio" if (data := from_base64(at(part, "input_audio", "data"))) is not None:
            return Media("audio", f"audio/{at(part, 'input_audio', 'format')}", data=data, raw=raw)
        case kind:
            return Other(kind, raw)


def _decode_image(part: dict[str, Json], raw: Json) -> Media | None:
    if isinstance(url := part.get("image_url"), str):
        return media_at(url, raw)
    if isinstance(file_id := part.get("file_id"), str):
        return Media("image", "", file_id=file_id, raw=raw)
    return None


def _decode_file(part: dict[str, Json], raw: Json) -> Media | None:
    name = text_or_none(part.get("filename"))
    for key in ("file_data", "file_url"):
        if isinstance(url := part.get(key), str):
            return media_at(url, raw, "document", name)
    if isinstance(file_id := part.get("file_id"), str):
        return Media("document", "", file_id=file_id, name=name, raw=raw)
    return None


def _message_text(content: Json, where: str) -> str:
    """The text of an assistant message, refusals included."""
    return "\n".join(
        part.text for part in decode_content(content, where, _decode_content_part) if isinstance(part, Text)
    )
