"""Encode messages as items of the Responses API."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import EMPTY, Encoder
from bough.formats.media import to_url
from bough.formats.openai_responses.decode import REPLY
from bough.formats.payload import at
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
"""Fields of a reply that a request refuses."""
REQUIRED = {"image_generation_call": ("result",), "code_interpreter_call": ("code", "outputs")}
"""Fields that a reply may lack and a request requires, at least as null."""


def encode_items(messages: Sequence[Message], encoder: Encoder) -> list[Json]:
    items: list[Json] = []
    for message in encoder.messages(messages):
        if message.role in ("user", "system"):
            items.append(_message(message, encoder))
        else:
            items += _output(message, encoder)
    return items


def as_input(item: dict[str, Json]) -> dict[str, Json]:
    """Convert an item of a reply to the form that a request accepts."""
    kind = str(item.get("type"))
    refused = OUTPUT_ONLY.get(kind, ())
    return {**dict.fromkeys(REQUIRED.get(kind, ())), **{key: item[key] for key in item if key not in refused}}


def _without_refused(item: dict[str, Json], encoder: Encoder) -> dict[str, Json]:
    sent = as_input(item)
    if refused := [key for key in item if key not in sent]:
        encoder.lose("reply_only_field", f"{', '.join(refused)} of {item.get('type')}")
    return sent


def _message(message: Message, encoder: Encoder) -> dict[str, Json]:
    """Encode a message of the user or the system."""
    shell = encoder.own(message.envelope)
    native = isinstance(shell, dict)
    wire = shell if native else {"role": "user" if message.role == "user" else "developer", "content": ""}
    parts: list[Json] = []
    for block in encoder.blocks(message.blocks):
        parts += _parts(block, encoder)
    if wire.get("content") == "" and all(part == _text(part.get("text")) for part in parts) and len(parts) <= 1:
        return {**wire, "content": parts[0]["text"] if parts else ""}
    return {**wire, "content": parts} if parts or not native else dict(wire)


def _text(text: Json) -> dict[str, Json]:
    return {"type": "input_text", "text": text}


def _parts(block: Block, encoder: Encoder) -> list[Json]:
    kept = encoder.own(block.raw)
    if kept is not None:
        return [kept]
    encoder.lose_marks(block)
    match block:
        case Text():
            return [_text(block.text)]
        case Media():
            return [_media(block) or _text(encoder.describe(block))]
        case Thinking():
            encoder.lose("dropped_thinking", "another model's reasoning")
        case ToolResult():
            return [_text(encoder.result_text(block))]
        case ToolCall() | Other():
            encoder.lose_other(block.type if isinstance(block, Other) else "tool call of the user")
    return []


def _output(message: Message, encoder: Encoder) -> list[Json]:
    """Encode an assistant or tool_result message, item by item."""
    from_reply = encoder.own(message.envelope) == REPLY
    items: list[Json] = []
    for block in encoder.blocks(message.blocks):
        kept = encoder.own(block.raw)
        if kept is None:
            items += _item(block, encoder, "assistant" if message.role == "assistant" else "user")
            continue
        if isinstance(block, ToolCall):
            encoder.ids.keep(block.call_id)
        items.append(_without_refused(kept, encoder) if from_reply else kept)
    if message.role == "assistant" and not items:
        encoder.lose("blank_replaced", "an empty message of the assistant")
        items.append({"role": "assistant", "content": EMPTY})
    return items


def _item(block: Block, encoder: Encoder, role: str) -> list[Json]:
    """Encode a block of another family; empty if it has no equivalent."""
    encoder.lose_marks(block)
    match block:
        case Text():
            return [{"role": role, "content": block.text}] if block.text.strip() else []
        case ToolCall():
            return [_call(block, encoder)]
        case ToolResult():
            return [_result(block, encoder)]
        case Media():
            return [{"role": role, "content": encoder.describe(block)}]
        case Thinking():
            encoder.lose("dropped_thinking", "another model's reasoning")
        case Other():
            encoder.lose_other(block.type)
    return []


def _call(call: ToolCall, encoder: Encoder) -> dict[str, Json]:
    """Encode a call of another family."""
    call_id, name = encoder.ids.call(call.call_id), encoder.tool_name(call.name)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": call.arguments}


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    """Encode a result of another family, as the output type that its call requires."""
    call = encoder.calls.get(result.call_id)
    kind = at(encoder.own(call.raw), "type") if call else None
    call_id = encoder.ids.result(result.call_id)
    match kind:
        case "mcp_approval_request":
            return {"type": "mcp_approval_response", "approval_request_id": call_id, "approve": not result.error}
        case "computer_call" if shot := next((part for part in result.content if isinstance(part, Media)), None):
            image = {**(_media(shot) or {}), "type": "computer_screenshot"}
            image.pop("detail", None)
            return {"type": "computer_call_output", "call_id": call_id, "output": image}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call_id, "output": encoder.result_text(result)}
        case "shell_call":
            outcome = {"type": "exit", "exit_code": 1 if result.error else 0}
            streams = {"stdout": result.text, "stderr": "", "outcome": outcome}
            return {"type": "shell_call_output", "call_id": call_id, "output": [streams]}
        case "apply_patch_call":
            status = "failed" if result.error else "completed"
            return {"type": "apply_patch_call_output", "call_id": call_id, "status": status, "output": result.text}
        case "custom_tool_call":
            return {"type": "custom_tool_call_output", "call_id": call_id, "output": _result_output(result, encoder)}
    return {"type": "function_call_output", "call_id": call_id, "output": _result_output(result, encoder)}


def _result_output(result: ToolResult, encoder: Encoder) -> Json:
    """A string; with media, a list of parts."""
    images: list[Json] = []
    described: list[str] = []
    for part in result.content:
        if isinstance(part, Media):
            item = _media(part)
            if item is None:
                described.append(encoder.describe(part, "tool_image_flattened"))
            else:
                images.append(item)
    text = "\n".join(line for line in (encoder.result_text(result, images=True), *described) if line)
    if not images:
        return text
    return [{"type": "input_text", "text": text}, *images] if text else images


def _media(media: Media) -> dict[str, Json] | None:
    """The part for media of another family; None for media that Responses does not take."""
    url = to_url(media)
    if media.kind == "image" and url and not url.startswith(("gs:", "s3:")):
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if media.kind == "document" and media.data is not None:
        return {"type": "input_file", "filename": media.name or "document", "file_data": url}
    if media.kind == "document" and url and url.startswith("http"):
        return {"type": "input_file", "file_url": url}
    return None
