"""Decode Chat messages.

A wire message has separate fields for content, refusal, reasoning, audio and calls. Each becomes a block whose `raw` is
the field (`{"refusal": "…"}`), and the envelope has the field emptied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bough.errors import FormatError
from bough.formats.call_ids import with_call_ids, with_ids
from bough.formats.content import decode_content, decode_reply_content, readable
from bough.formats.encoder import emptied, own
from bough.formats.media import from_base64, media_at
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none, written
from bough.formats.tool_messages import decode_list
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "openai.chat"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
REASONING = ("reasoning_content", "reasoning", "tool_plan")
"""Fields in which compatible servers return reasoning. The format itself has no field for it."""
LIFTED: dict[str, Json] = {"refusal": "", "audio": {}, "function_call": {}, **dict.fromkeys(REASONING, "")}
"""Fields that become blocks, and their emptied value in the envelope."""
IMAGES = "images"
"""Field of a reply with one block for each of its items."""


def decode_messages(payload: list[Json]) -> tuple[Message, ...]:
    messages = decode_list(payload, ("tool", "function"), _decode_result, _decode_listed)
    if any(not call.call_id for message in messages for call in message.calls):
        return with_call_ids(messages)
    return tuple(messages)


def _decode_listed(wire: dict[str, Json], where: str) -> Message:
    return decode_message(wire, _role(wire, where), where)


def _role(wire: dict[str, Json], where: str) -> Role:
    name = as_text(wire.get("role"), f"{where}.role")
    if name not in ROLES:
        raise FormatError(f"{where} has the role {name!r}, which Chat does not know.")
    return ROLES[name]


def decode_message(wire: dict[str, Json], role: Role, where: str) -> Message:
    """Decode a message of the user, the assistant or the system."""
    content = decode_content(wire.get("content"), f"{where}.content", _decode_part)
    listed = optional_list(wire.get("tool_calls"), f"{where}.tool_calls")
    calls = [
        _decode_call(as_dict(call, f"{where}.tool_calls[{position}]"), f"{where}.tool_calls[{position}]")
        for position, call in enumerate(listed)
    ]
    if wire.get("function_call") is not None:
        as_dict(wire["function_call"], f"{where}.function_call")
    return _message(role, wire, content, calls)


def decode_reply(wire: dict[str, Json], where: str) -> Message:
    """Decode the message of a reply, which is never refused: malformed parts are kept as `Other`."""
    content, listed = wire.get("content"), wire.get("tool_calls")
    parts = decode_reply_content(content, f"{where}.content", _decode_part)
    calls = [
        readable(call, f"{where}.tool_calls[{position}]", _decode_call)
        for position, call in enumerate(listed if isinstance(listed, list) else [])
    ]
    wire = {"role": "assistant", **wire}
    if not isinstance(wire["role"], str) or not wire["role"]:
        wire["role"] = "assistant"
    if content is not None and not isinstance(content, (str, list)):
        wire["content"] = None
    return _message("assistant", wire, parts, list(with_ids(calls)))


def _message(role: Role, wire: dict[str, Json], content: Sequence[Block], calls: Sequence[Block]) -> Message:
    blocks = (*_decode_reasoning(wire), *content, *_decode_fields(wire), *calls)
    lifted = {key for block in blocks for key in own(block.raw, FAMILY) or () if key in LIFTED or key == IMAGES}
    return Message(role, blocks, envelope={FAMILY: emptied(wire, "content", "tool_calls", *lifted)})


def _decode_reasoning(wire: dict[str, Json]) -> Iterator[Block]:
    for key in REASONING:
        if isinstance(thinking := wire.get(key), str):
            yield Thinking(thinking, raw={FAMILY: {key: thinking}})


def _decode_fields(wire: dict[str, Json]) -> Iterator[Block]:
    if isinstance(refusal := wire.get("refusal"), str):
        yield Text(refusal, raw={FAMILY: {"refusal": refusal}})
    if isinstance(audio := wire.get("audio"), dict):
        yield _decode_audio(audio)
    yield from _decode_images(wire.get(IMAGES))
    if isinstance(call := wire.get("function_call"), dict) and isinstance(call.get("name"), str) and call["name"]:
        yield _decode_function_call(call)


def _decode_images(images: Json) -> list[Media]:
    """Images of a reply, as OpenRouter sends them beside the content; none if any of them cannot be read."""
    listed = images if isinstance(images, list) else []
    urls = [at(image, "image_url", "url") for image in listed]
    if not all(isinstance(url, str) for url in urls):
        return []
    return [media_at(url, {FAMILY: {IMAGES: [image]}}) for url, image in zip(urls, listed, strict=True)]


def _thinking_text(thinking: Json) -> str:
    """The text of Mistral's reasoning: parts of text."""
    if isinstance(thinking, str):
        return thinking
    parts = thinking if isinstance(thinking, list) else []
    return "".join(text_or_none(at(part, "text")) or "" for part in parts)


def _decode_part(part: dict[str, Json], where: str) -> Text | Thinking | Media | Other:
    raw = {FAMILY: part}
    match part.get("type"):
        case "text":
            return Text(as_text(part.get("text"), f"{where}.text"), raw=raw)
        case "thinking":
            return Thinking(_thinking_text(part.get("thinking")), raw=raw)
        case "refusal":
            return Text(as_text(part.get("refusal"), f"{where}.refusal"), raw=raw)
        case "image_url" if isinstance(url := at(part, "image_url", "url"), str):
            return media_at(url, raw)
        case "input_audio" if (data := from_base64(at(part, "input_audio", "data"))) is not None:
            return Media("audio", f"audio/{at(part, 'input_audio', 'format')}", data=data, raw=raw)
        case "file":
            return _decode_file(as_dict(part.get("file"), f"{where}.file"), raw) or Other("file", raw)
        case kind:
            return Other(as_text(kind, f"{where}.type"), raw)


def _decode_file(file: dict[str, Json], raw: Json) -> Media | None:
    name = text_or_none(file.get("filename"))
    if isinstance(url := file.get("file_data"), str):
        return media_at(url, raw, "document", name)
    if isinstance(file_id := file.get("file_id"), str):
        return Media("document", "", file_id=file_id, name=name, raw=raw)
    return None


def _decode_audio(audio: dict[str, Json]) -> Block:
    """The transcript of an audio reply; `Other` if it has none."""
    raw = {FAMILY: {"audio": audio}}
    transcript = audio.get("transcript")
    return Text(transcript, raw=raw) if isinstance(transcript, str) else Other("audio", raw)


def _decode_call(call: dict[str, Json], where: str) -> ToolCall:
    call_id = "" if call.get("id") is None else as_text(call["id"], f"{where}.id")
    kind = "custom" if call.get("type") == "custom" else "function"
    body = as_dict(call.get(kind), f"{where}.{kind}")
    arguments = body.get("input" if kind == "custom" else "arguments")
    if isinstance(arguments, dict):
        arguments = written(arguments)  # some servers send an object
    text = "" if arguments is None else as_text(arguments, f"{where}.{kind}")
    return ToolCall(call_id, str(body.get("name") or ""), text, raw={FAMILY: call})


def _decode_function_call(call: dict[str, Json]) -> ToolCall:
    """Decode the deprecated `function_call`. Its result refers to it by the function's name."""
    name = str(call.get("name") or "")
    return ToolCall(name, name, str(call.get("arguments") or ""), raw={FAMILY: {"function_call": call}})


def _as_other(part: Thinking | Other) -> Other:
    return part if isinstance(part, Other) else Other("thinking", part.raw)


def _decode_result(wire: dict[str, Json], where: str) -> ToolResult:
    key = "name" if wire["role"] == "function" else "tool_call_id"
    call_id = "" if wire.get(key) is None and key == "tool_call_id" else as_text(wire.get(key), f"{where}.{key}")
    content = tuple(
        # The raw of the whole result includes a part that is not `Other`.
        replace(part, raw=None) if isinstance(part, (Text, Media)) else _as_other(part)
        for part in decode_content(wire.get("content"), f"{where}.content", _decode_part)
    )
    return ToolResult(call_id, content, name=text_or_none(wire.get("name")), raw={FAMILY: wire})
