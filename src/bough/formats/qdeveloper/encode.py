"""Encode messages as a conversation state."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import JOINED, Encoder
from bough.formats.media import NAMES, to_base64
from bough.formats.qdeveloper.decode import ASSISTANT, CONTEXT, STATE, USER
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def encode_state(messages: Sequence[Message], encoder: Encoder) -> dict[str, Json]:
    wire_messages: list[_Input | _Reply] = []
    state: dict[str, Json] = {"chatTriggerType": "MANUAL", "history": [], "currentMessage": {}}
    for message in encoder.messages(messages):
        shell = encoder.own(message.envelope)
        if isinstance(shell, dict) and STATE in shell:
            state = shell[STATE]
        elif state.get("currentMessage") is None:
            state = {**state, "currentMessage": {}}  # the dialog continued after that state
        _add(wire_messages, message, shell, encoder)
    return _state(state, [item.wire() for item in wire_messages])


def _state(state: dict[str, Json], wire: list[Json]) -> dict[str, Json]:
    """The state as received, with the last input as current message and all others as history."""
    asking = bool(wire) and USER in wire[-1] and state.get("currentMessage") is not None
    payload = {key: value for key, value in state.items() if value is None or key != "currentMessage"}
    history = wire[:-1] if asking else wire
    if history:
        payload["history"] = history
    if asking:
        payload["currentMessage"] = wire[-1]
    return payload


def _add(wire_messages: list[_Input | _Reply], message: Message, shell: Json, encoder: Encoder) -> None:
    native = isinstance(shell, dict) and (USER in shell or ASSISTANT in shell)
    last = wire_messages[-1] if wire_messages else None
    if message.role == "assistant":
        if not native and not isinstance(last, _Input):
            wire_messages.append(_Input(None))  # rule 16: a reply follows an input, even an empty one
        wire_messages.append(_Reply(shell if native else None))
    elif not isinstance(last, _Input) or (native and last.native):
        wire_messages.append(_Input(shell if native else None))
    if message.role == "system":
        encoder.lose("system_as_user", "a system message in mid-conversation")
    for block in encoder.blocks(message.blocks):
        wire_messages[-1].add(block, encoder)


class _Input:
    """An input of the model: text, tool results and images."""

    def __init__(self, shell: dict[str, Json] | None) -> None:
        self.native = shell is not None
        self._item = _without_state(shell or {USER: {"content": ""}})
        self._texts: list[str] = []
        self._results: list[Json] = []
        self._images: list[Json] = []

    def add(self, block: Block, encoder: Encoder) -> None:
        kept = encoder.own(block.raw)
        match block:
            case ToolResult():
                self._results.append(_result(block, encoder) if kept is None else kept)
            case Media() | Other() if kept is not None:
                self._images.append(kept)
            case Text():
                encoder.lose_marks(block)
                self._texts.append(block.text)
            case Media():
                self._add_media(block, encoder)
            case _:
                _lose(block, encoder)

    def wire(self) -> dict[str, Json]:
        body = {**self._item[USER], "content": "\n\n".join(text for text in self._texts if text)}
        if len(self._texts) == 1:
            body["content"] = self._texts[0]
        if self._results:
            body[CONTEXT] = {**(body.get(CONTEXT) or {}), "toolResults": self._results}
        if self._images:
            body["images"] = self._images
        return {**self._item, USER: body}

    def _add_media(self, media: Media, encoder: Encoder) -> None:
        if media.kind == "image" and media.data and media.mime in IMAGES:
            self._images.append({"format": NAMES[media.mime], "source": {"bytes": to_base64(media.data)}})
        else:
            self._texts.append(encoder.describe(media))


class _Reply:
    """A reply of the model: text and calls."""

    def __init__(self, shell: dict[str, Json] | None) -> None:
        self._item = _without_state(shell or {ASSISTANT: {"content": ""}})
        self._texts: list[str] = []
        self._calls: list[Json] = []
        self._reasoning: dict[str, Json] = {}

    def add(self, block: Block, encoder: Encoder) -> None:
        kept = encoder.own(block.raw)
        match block:
            case ToolCall():
                self._calls.append(_call(block, encoder) if kept is None else kept)
                if kept is not None:
                    encoder.ids.keep(block.call_id)
            case Thinking() if kept is not None:
                self._reasoning = kept
            case Text():
                encoder.lose_marks(block)
                if self._calls:
                    encoder.lose("order_flattened", "text after a call")
                self._texts.append(block.text)
            case Media():
                self._texts.append(encoder.describe(block))
            case _:
                _lose(block, encoder)

    def wire(self) -> dict[str, Json]:
        shell = {key: value for key, value in self._item[ASSISTANT].items() if key != "reasoningContent" or value != {}}
        body = {**shell, **self._reasoning, "content": "\n".join(self._texts)}
        if self._calls:
            body["toolUses"] = self._calls
        return {**self._item, ASSISTANT: body}


def _without_state(item: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in item.items() if key not in (STATE, JOINED)}


def _lose(block: Block, encoder: Encoder) -> None:
    encoder.lose_marks(block)
    if isinstance(block, Thinking):
        encoder.lose("dropped_thinking", "another model's reasoning")
    else:
        encoder.lose_other(block.type if isinstance(block, Other) else type(block).__name__)


def _call(call: ToolCall, encoder: Encoder) -> dict[str, Json]:
    encoder.lose_marks(call)
    call_id, name = encoder.ids.call(call.call_id), encoder.tool_name(call.name)
    return {"toolUseId": call_id, "name": name, "input": encoder.arguments(call)}


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    texts = []
    for part in result.content:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Media):
            texts.append(encoder.describe(part, "tool_image_flattened"))
        else:
            encoder.lose_other(part.type)
    call_id, status = encoder.ids.result(result.call_id), "error" if result.error else "success"
    return {"toolUseId": call_id, "content": [{"text": text} for text in texts], "status": status}
