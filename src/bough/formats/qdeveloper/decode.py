"""Decode a conversation state."""

from __future__ import annotations

from bough.errors import FormatError
from bough.formats.call_ids import with_missing_ids
from bough.formats.encoder import JOINED, emptied
from bough.formats.media import FORMATS, from_base64
from bough.formats.payload import as_dict, as_text, at, optional_list, text_or_none, written
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "qdeveloper"
USER, ASSISTANT, STATE = "userInputMessage", "assistantResponseMessage", "conversationState"
CONTEXT = "userInputMessageContext"


def decode_state(state: dict[str, Json]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for position, item in enumerate(optional_list(state.get("history"), "history")):
        messages += decode_message(as_dict(item, f"history[{position}]"), f"history[{position}]")
    if (current := state.get("currentMessage")) is not None:
        messages += decode_message(as_dict(current, "currentMessage"), "currentMessage")
    if messages and state.keys() != {"history"}:
        messages[-1] = _with_state(messages[-1], emptied(state, "history", "currentMessage"))
    return with_missing_ids(messages)


def _with_state(message: Message, state: dict[str, Json]) -> Message:
    kept = message.envelope[FAMILY]
    shell = {JOINED: True} if kept == JOINED else kept
    return replace(message, envelope={FAMILY: {**shell, STATE: state}})


def decode_message(item: dict[str, Json], where: str) -> list[Message]:
    """Decode one input or one reply. An input with both tool results and text becomes two messages."""
    if USER in item:
        return _decode_input(item, as_dict(item[USER], f"{where}.{USER}"), f"{where}.{USER}")
    if ASSISTANT in item:
        return [_decode_reply(item, as_dict(item[ASSISTANT], f"{where}.{ASSISTANT}"), f"{where}.{ASSISTANT}")]
    raise FormatError(f"{where} is neither a {USER} nor an {ASSISTANT}.")


def _decode_input(item: dict[str, Json], body: dict[str, Json], where: str) -> list[Message]:
    content = as_text(body.get("content"), f"{where}.content")
    context = as_dict({} if body.get(CONTEXT) is None else body[CONTEXT], f"{where}.{CONTEXT}")
    results = [
        _decode_result(as_dict(result, f"{where}.toolResults[{position}]"), f"{where}.toolResults[{position}]")
        for position, result in enumerate(optional_list(context.get("toolResults"), f"{where}.toolResults"))
    ]
    images = [_decode_image(image) for image in optional_list(body.get("images"), f"{where}.images")]
    shell = emptied(body, "content", "images")
    if body.get(CONTEXT) is not None:
        shell[CONTEXT] = emptied(context, "toolResults")
    envelope = {FAMILY: {**item, USER: shell}}
    if not results:
        return [Message("user", (Text(content), *images), envelope=envelope)]
    results_message = Message("tool_result", tuple(results), any(result.error for result in results), envelope)
    words: list[Block] = [Text(content)] if content else []
    return (
        [results_message, Message("user", (*words, *images), envelope={FAMILY: JOINED})]
        if content or images
        else [results_message]
    )


def _decode_result(item: dict[str, Json], where: str) -> ToolResult:
    content: list[Text | Media | Other] = []
    for part in optional_list(item.get("content"), f"{where}.content"):
        text = at(part, "text")
        content.append(Text(text if isinstance(text, str) else written(at(part, "json"))))
    call_id = as_text(item.get("toolUseId"), f"{where}.toolUseId")
    failed = str(item.get("status")).lower() == "error"
    return ToolResult(call_id, tuple(content), failed, raw={FAMILY: item})


def _decode_image(image: Json) -> Media | Other:
    format_name = text_or_none(at(image, "format")) or ""
    data = from_base64(at(image, "source", "bytes"))
    if data is None:
        return Other("image", {FAMILY: image})
    return Media("image", FORMATS.get(format_name, f"image/{format_name}"), data=data, raw={FAMILY: image})


def _decode_reply(item: dict[str, Json], body: dict[str, Json], where: str) -> Message:
    blocks: list[Block] = []
    lifted = ["content", "toolUses"]
    if isinstance(reasoning := body.get("reasoningContent"), dict):
        text = text_or_none(at(reasoning, "reasoningText", "text")) or ""
        blocks.append(Thinking(text, raw={FAMILY: {"reasoningContent": reasoning}}))
        lifted.append("reasoningContent")
    if content := as_text(body.get("content"), f"{where}.content"):
        blocks.append(Text(content))
    for position, call in enumerate(optional_list(body.get("toolUses"), f"{where}.toolUses")):
        blocks.append(_decode_call(as_dict(call, f"{where}.toolUses[{position}]"), f"{where}.toolUses[{position}]"))
    return Message("assistant", tuple(blocks), envelope={FAMILY: {**item, ASSISTANT: emptied(body, *lifted)}})


def _decode_call(item: dict[str, Json], where: str) -> ToolCall:
    call_id, name = as_text(item.get("toolUseId"), f"{where}.toolUseId"), as_text(item.get("name"), f"{where}.name")
    return ToolCall(call_id, name, written(item.get("input")), raw={FAMILY: item})
