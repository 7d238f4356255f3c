"""bough's messages as items of the Responses API."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoding import EMPTY, Rendering
from bough.formats.openai_responses.calls import write_call, write_result
from bough.formats.openai_responses.parts import write_media
from bough.formats.openai_responses.reading import REPLY
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

OUTPUT_ONLY = {
    "function_call_output": ("created_by",),
    "computer_call_output": ("created_by",),
    "tool_search_call": ("created_by",),
    "tool_search_output": ("created_by",),
    "compaction": ("created_by",),
    "shell_call": ("created_by",),
    "shell_call_output": ("created_by",),
    "apply_patch_call": ("created_by",),
    "apply_patch_call_output": ("created_by",),
    "custom_tool_call_output": ("created_by", "status"),
}
"""Fields that a reply has and a request refuses."""
REQUIRED = {"image_generation_call": ("result",), "code_interpreter_call": ("code", "outputs")}
"""Fields that a reply may leave out and a request must have, null if need be."""


def write_items(messages: Sequence[Message], rendering: Rendering) -> list[Json]:
    items: list[Json] = []
    for message in rendering.messages(messages):
        if message.role in ("user", "system"):
            items.append(_speaker(message, rendering))
        else:
            items += _output(message, rendering)
    return items


def as_input(item: dict[str, Json]) -> dict[str, Json]:
    """An item of a reply in the form in which a request takes it."""
    kind = str(item.get("type"))
    refused = OUTPUT_ONLY.get(kind, ())
    return {**dict.fromkeys(REQUIRED.get(kind, ())), **{key: item[key] for key in item if key not in refused}}


def _speaker(message: Message, rendering: Rendering) -> dict[str, Json]:
    """A message of the user or the system."""
    shell = rendering.own(message.envelope)
    native = isinstance(shell, dict)
    wire = shell if native else {"role": "user" if message.role == "user" else "developer", "content": ""}
    parts: list[Json] = []
    for block in rendering.blocks(message.blocks):
        parts += _parts(block, rendering)
    if wire.get("content") == "" and all(part == _text(part.get("text")) for part in parts) and len(parts) <= 1:
        return {**wire, "content": parts[0]["text"] if parts else ""}
    return {**wire, "content": parts} if parts or not native else dict(wire)


def _text(text: Json) -> dict[str, Json]:
    return {"type": "input_text", "text": text}


def _parts(block: Block, rendering: Rendering) -> list[Json]:
    kept = rendering.own(block.raw)
    if kept is not None:
        return [kept]
    rendering.lose_marks(block)
    match block:
        case Text():
            return [_text(block.text)]
        case Media():
            return [write_media(block) or _text(rendering.described(block))]
        case Thinking():
            rendering.lose("dropped_thinking", "another model's reasoning")
        case ToolResult():
            return [_text(rendering.told(block))]
        case ToolCall() | Other():
            rendering.lose_other(block.type if isinstance(block, Other) else "tool call of the user")
    return []


def _output(message: Message, rendering: Rendering) -> list[Json]:
    """What the model put out, or the outputs that answer it, item by item."""
    came_out = rendering.own(message.envelope) == REPLY
    items: list[Json] = []
    for block in rendering.blocks(message.blocks):
        kept = rendering.own(block.raw)
        if kept is None:
            items += _item(block, rendering, "assistant" if message.role == "assistant" else "user")
            continue
        if isinstance(block, ToolCall):
            rendering.ids.keep(block.call_id)
        items.append(as_input(kept) if came_out else kept)
    if message.role == "assistant" and not items:
        rendering.lose("blank_replaced", "an empty message of the assistant")
        items.append({"role": "assistant", "content": EMPTY})
    return items


def _item(block: Block, rendering: Rendering, speaker: str) -> list[Json]:
    """A block of another family; nothing when it cannot be said."""
    rendering.lose_marks(block)
    match block:
        case Text():
            return [{"role": speaker, "content": block.text}] if block.text.strip() else []
        case ToolCall():
            return [write_call(block, rendering)]
        case ToolResult():
            return [write_result(block, rendering)]
        case Media():
            return [{"role": speaker, "content": rendering.described(block)}]
        case Thinking():
            rendering.lose("dropped_thinking", "another model's reasoning")
        case Other():
            rendering.lose_other(block.type)
    return []
