"""Decode Chat messages.

A wire message has separate fields for content, refusal, reasoning, audio and calls. Each becomes a block whose `raw` is
the field (`{"refusal": "…"}`), and the envelope has the field emptied.
"""

from __future__ import annotations

from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats.content import decode_content
from bough.formats.encoder import emptied, own
from bough.formats.media import from_base64, media_at
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "openai.chat"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
REASONING = ("reasoning_content", "reasoning")
"""Fields in which compatible servers return reasoning. The format itself has no field for it."""
LIFTED: dict[str, Json] = {"refusal": "", "audio": {}, "function_call": {}, **dict.fromkeys(REASONING, "")}
"""Fields that become blocks, and their emptied value in the envelope."""


def decode_messages(payload: list[Json]) -> tuple[Message, ...]:
    messages: list[Message] = []
    results: list[ToolResult] = []
    for position, item in enumerate(payload):
        where = f"messages[{position}]"
        wire = as_dict(item, where)
        if wire.get("role") in ("tool", "function"):
            results.append(_decode_result(wire, where))
            continue
        messages += _results(results)
        results = []
        messages.append(decode_message(wire, _role(wire, where), where))
    return (*messages, *_results(results))


def _results(results: list[ToolResult]) -> list[Message]:
    """One message of all results of one reply."""
    return [Message("tool_result", tuple(results))] if results else []


def _role(wire: dict[str, Json], where: str) -> Role:
    name = as_text(wire.get("role"), f"{where}.role")
    if name not in ROLES:
        raise FormatError(f"{where} has the role {name!r}, which Chat does not know.")
    return ROLES[name]


def decode_message(wire: dict[str, Json], role: Role, where: str) -> Message:
    """Decode a message of the user, the assistant or the system."""
    blocks = tuple(_decode_fields(wire, where))
    lifted = {key for block in blocks for key in own(block.raw, FAMILY) or () if key in LIFTED}
    return Message(role, blocks, envelope={FAMILY: emptied(wire, "content", "tool_calls", *lifted)})


def _decode_fields(wire: dict[str, Json], where: str) -> Iterator[Block]:
    for key in REASONING:
        if isinstance(thinking := wire.get(key), str):
            yield Thinking(thinking, raw={FAMILY: {key: thinking}})
    yield from decode_content(wire.get("content"), f"{where}.content", _decode_part)
    if isinstance(refusal := wire.get("refusal"), str):
        yield Text(refusal, raw={FAMILY: {"refusal": refusal}})
    if isinstance(audio := wire.get("audio"), dict):
        yield _decode_audio(audio)
    if (call := wire.get("function_call")) is not None:
        yield _decode_function_call(as_dict(call, f"{where}.function_call"))
    for position, call in enumerate(optional_list(wire.get("tool_calls"), f"{where}.tool_calls")):
        yield _decode_call(as_dict(call, f"{where}.tool_calls[{position}]"), f"{where}.tool_calls[{position}]")


def _decode_part(part: dict[str, Json], where: str) -> Text | Media | Other:
    raw = {FAMILY: part}
    match part.get("type"):
        case "text":
            return Text(as_text(part.get("text"), f"{where}.text"), raw=raw)
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
    call_id = as_text(call.get("id"), f"{where}.id")
    kind = "custom" if call.get("type") == "custom" else "function"
    body = as_dict(call.get(kind), f"{where}.{kind}")
    arguments = body.get("input" if kind == "custom" else "arguments")
    return ToolCall(call_id, str(body.get("name") or ""), as_text(arguments, f"{where}.{kind}"), raw={FAMILY: call})


def _decode_function_call(call: dict[str, Json]) -> ToolCall:
    """Decode the deprecated `function_call`. Its result refers to it by the function's name."""
    name = str(call.get("name") or "")
    return ToolCall(name, name, str(call.get("arguments") or ""), raw={FAMILY: {"function_call": call}})


def _decode_result(wire: dict[str, Json], where: str) -> ToolResult:
    key = "name" if wire["role"] == "function" else "tool_call_id"
    call_id = as_text(wire.get(key), f"{where}.{key}")
    content = tuple(
        part if isinstance(part, Other) else replace(part, raw=None)  # the raw of the whole result includes it
        for part in decode_content(wire.get("content"), f"{where}.content", _decode_part)
    )
    return ToolResult(call_id, content, name=text_or_none(wire.get("name")), raw={FAMILY: wire})
