"""Items of the Responses API as bough's messages.

What the model put out in one go is one message of the assistant, one block per item, each with its item as `raw`. The
outputs that answer it are one message of results. A reply's message says `"reply"` in its envelope: its items are
in the form in which they came out, which differs a little from the form in which they go in again.
"""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.encoding import emptied
from bough.formats.media import from_base64
from bough.formats.openai_responses.calls import OUTPUTS, read_call, read_result
from bough.formats.openai_responses.parts import read_parts, spoken
from bough.formats.payload import as_dict, as_text, optional_list, text_or_none
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking

FAMILY = "openai.responses"
REPLY = "reply"
ROLES: dict[str, Role] = {"user": "user", "system": "system", "developer": "system"}


def read_output(output: list[Json]) -> tuple[Message, ...]:
    """What a reply put out, as one message."""
    blocks = [_read_item(as_dict(item, f"reply.output[{at}]"), f"reply.output[{at}]") for at, item in enumerate(output)]
    return (Message("assistant", tuple(blocks), envelope={FAMILY: REPLY}),) if blocks else ()


def read_items(items: list[Json], where: str) -> tuple[Message, ...]:
    """The items of a request, taken together as they were said."""
    messages: list[Message] = []
    for position, value in enumerate(items):
        item = as_dict(value, f"{where}[{position}]")
        kind = _kind(item, f"{where}[{position}]")
        if kind == "message" and item.get("role") != "assistant":
            messages.append(_read_message(item, f"{where}[{position}]"))
            continue
        role: Role = "tool_result" if kind in OUTPUTS else "assistant"
        block = _read_item(item, f"{where}[{position}]")
        if messages and messages[-1].role == role and messages[-1].envelope is None:
            messages[-1] = Message(role, (*messages[-1].blocks, block))
        else:
            messages.append(Message(role, (block,)))
    return tuple(messages)


def _kind(item: dict[str, Json], where: str) -> str:
    """An item says its type, but a message may leave it out."""
    if "type" not in item and "role" in item:
        return "message"
    return as_text(item.get("type"), f"{where}.type")


def _read_message(item: dict[str, Json], where: str) -> Message:
    name = as_text(item.get("role"), f"{where}.role")
    if name not in ROLES:
        raise FormatError(f"{where} has the role {name!r}, which Responses does not know.")
    blocks = tuple(read_parts(item.get("content"), f"{where}.content"))
    return Message(ROLES[name], blocks, envelope={FAMILY: emptied(item, "content")})


def _read_item(item: dict[str, Json], where: str) -> Block:
    raw = {FAMILY: item}
    kind = _kind(item, where)
    if kind == "message":
        return Text(spoken(item.get("content"), f"{where}.content"), raw=raw)
    if kind == "reasoning":
        return Thinking(_reasoned(item, where), raw=raw)
    if kind in OUTPUTS:
        return read_result(kind, item, where)
    if kind == "image_generation_call" and (data := from_base64(item.get("result"))) is not None:
        mime = f"image/{text_or_none(item.get('output_format')) or 'png'}"
        return Media("image", mime, data=data, raw=raw)
    return read_call(kind, item, where) or Other(kind, raw)


def _reasoned(item: dict[str, Json], where: str) -> str:
    """The reasoning itself where the provider shows it, else its summary; empty when it is only sealed."""
    for key in ("content", "summary"):
        parts = optional_list(item.get(key), f"{where}.{key}")
        if parts:
            return "\n\n".join(str(as_dict(part, f"{where}.{key}").get("text") or "") for part in parts)
    return ""
