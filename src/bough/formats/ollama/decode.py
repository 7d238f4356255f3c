"""Decode Ollama's messages.

A wire message has separate fields for thinking, content, images and calls. Each becomes a block, and the envelope has
the field emptied.
"""

from __future__ import annotations

from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats.call_ids import with_call_ids, with_ids
from bough.formats.content import readable, unreadable
from bough.formats.encoder import emptied
from bough.formats.media import from_base64, image_type, to_base64
from bough.formats.payload import as_dict, as_text, optional_list, text_or_none, written
from bough.formats.tool_messages import decode_list
from bough.model import Block, Json, Media, Message, Role, Text, Thinking, ToolCall, ToolResult

FAMILY = "ollama"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
FIELDS = ("thinking", "content", "images", "tool_calls")
"""Fields that become blocks."""


def decode_messages(items: list[Json]) -> tuple[Message, ...]:
    return with_call_ids(decode_list(items, ("tool",), _decode_result, _decode_message))


def _decode_message(wire: dict[str, Json], where: str) -> Message:
    name = as_text(wire.get("role"), f"{where}.role")
    if name not in ROLES:
        raise FormatError(f"{where} has the role {name!r}, which Ollama does not know.")
    calls = [
        decode_call(as_dict(call, f"{where}.tool_calls[{position}]"), f"{where}.tool_calls[{position}]")
        for position, call in enumerate(optional_list(wire.get("tool_calls"), f"{where}.tool_calls"))
    ]
    blocks = (*_decode_texts(wire, where), *_decode_images(wire, where), *calls)
    return Message(ROLES[name], blocks, envelope={FAMILY: emptied(wire, *FIELDS)})


def decode_reply(wire: dict[str, Json], where: str) -> Message:
    """Decode the message of a reply, which is never refused: malformed parts are kept as `Other`."""
    blocks: list[Block] = []
    malformed: list[str] = []
    for key, decode in (("thinking", _decode_texts), ("content", _decode_texts), ("images", _decode_images)):
        try:
            blocks += decode({key: wire.get(key)}, where)
        except FormatError:
            blocks.append(unreadable(wire[key]))
            malformed.append(key)
    listed = wire.get("tool_calls")
    for position, call in enumerate(listed if isinstance(listed, list) else []):
        blocks.append(readable(call, f"{where}.tool_calls[{position}]", decode_call))
    kept = {key: value for key, value in wire.items() if key not in malformed}
    shell = {"role": "assistant", "content": "", **emptied(kept, *FIELDS)}
    if not isinstance(shell["role"], str):
        shell["role"] = "assistant"
    return Message("assistant", with_ids(blocks), envelope={FAMILY: shell})


def _decode_texts(wire: dict[str, Json], where: str) -> Iterator[Block]:
    if wire.get("thinking") is not None:
        thinking = as_text(wire["thinking"], f"{where}.thinking")
        yield Thinking(thinking, raw={FAMILY: {"thinking": thinking}})
    if wire.get("content") is not None:
        yield Text(as_text(wire["content"], f"{where}.content"))


def _decode_images(wire: dict[str, Json], where: str) -> Iterator[Media]:
    for position, item in enumerate(optional_list(wire.get("images"), f"{where}.images")):
        text = as_text(item, f"{where}.images[{position}]")
        data = from_base64(text)
        if not data or to_base64(data) != text:
            raise FormatError(f"{where}.images[{position}] is not base64.")
        yield Media("image", image_type(data), data=data)


def decode_call(call: dict[str, Json], where: str) -> ToolCall:
    body = as_dict(call.get("function"), f"{where}.function")
    call_id = "" if call.get("id") is None else as_text(call["id"], f"{where}.id")
    arguments = body.get("arguments")
    text = arguments if isinstance(arguments, str) else written({} if arguments is None else arguments)
    return ToolCall(call_id, text_or_none(body.get("name")) or "", text, raw={FAMILY: call})


def _decode_result(wire: dict[str, Json], where: str) -> ToolResult:
    """Decode a result. It names its call, as newer servers do, or its tool, or neither."""
    call_id = "" if wire.get("tool_call_id") is None else as_text(wire["tool_call_id"], f"{where}.tool_call_id")
    name = text_or_none(wire.get("tool_name")) or text_or_none(wire.get("name"))
    text = [] if wire.get("content") is None else [Text(as_text(wire["content"], f"{where}.content"))]
    return ToolResult(call_id, (*text, *_decode_images(wire, where)), name=name, raw={FAMILY: wire})
