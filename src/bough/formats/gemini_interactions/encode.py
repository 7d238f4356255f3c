"""Encode messages as the steps of an interaction."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import EMPTY, Encoder
from bough.formats.gemini_interactions.decode import CONTENTS, MORE
from bough.formats.media import to_base64
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult


def encode_steps(messages: Sequence[Message], encoder: Encoder) -> list[Json]:
    steps: list[Json] = []
    for message in encoder.messages(messages):
        shell = encoder.own(message.envelope)
        if shell == CONTENTS and len(messages) == 1:
            return _contents(message, encoder)
        if isinstance(shell, dict):
            steps.append(_filled(shell, message, encoder))
        elif message.role in ("user", "system"):
            steps.append(_user_input(message, encoder))
        else:
            steps += _model_steps(message, encoder)
    return steps


def _filled(shell: dict[str, Json], message: Message, encoder: Encoder) -> dict[str, Json]:
    """A step or turn as it came, with its contents filled in."""
    if shell.get("content") == "" and len(message.blocks) == 1 and isinstance(message.blocks[0], Text):
        return {**shell, "content": message.blocks[0].text}  # received as a string, so sent as one
    contents = _contents(message, encoder)
    return {**shell, "content": contents} if contents or shell.get("content") else dict(shell)


def _user_input(message: Message, encoder: Encoder) -> dict[str, Json]:
    if message.role == "system":
        encoder.lose("system_as_user", "a system message in mid-conversation")
    contents = _contents(message, encoder)
    if not contents:
        encoder.lose("blank_replaced", f"an empty message of the {message.role}")
        contents = [_text(EMPTY)]
    return {"type": "user_input", "content": contents}


def _contents(message: Message, encoder: Encoder) -> list[Json]:
    contents: list[Json] = []
    for block in encoder.blocks(message.blocks):
        kept = encoder.own(block.raw)
        if kept is not None:
            contents.append(kept)
            continue
        encoder.lose_marks(block)
        match block:
            case Text() if block.text.strip():
                contents.append(_text(block.text))
            case Media():
                contents.append(_media(block) or _text(encoder.describe(block)))
            case ToolResult():
                contents.append(_text(encoder.result_text(block)))
            case Thinking():
                encoder.lose("dropped_thinking", "another model's reasoning")
            case ToolCall() | Other():
                encoder.lose_other(block.type if isinstance(block, Other) else "tool call of the user")
    return contents


def _model_steps(message: Message, encoder: Encoder) -> list[Json]:
    """The steps of an assistant or tool_result message."""
    steps: list[Json] = []
    for block in encoder.blocks(message.blocks):
        kept = encoder.own(block.raw)
        if kept is None:
            encoder.lose_marks(block)
            steps += _step(block, encoder)
        elif MORE in kept:
            _append_content(steps, kept[MORE])
        else:
            if isinstance(block, ToolCall):
                encoder.ids.keep(block.call_id)
            steps.append(kept)
    if not steps and message.role == "assistant":
        encoder.lose("blank_replaced", "an empty message of the assistant")
        steps.append(_output(_text(EMPTY)))
    return steps


def _append_content(steps: list[Json], content: Json) -> None:
    """Add a further content to the output before it, or as an output of its own."""
    if steps and steps[-1].get("type") == "model_output":
        steps[-1] = {**steps[-1], "content": [*steps[-1]["content"], content]}
    else:
        steps.append(_output(content))


def _step(block: Block, encoder: Encoder) -> list[Json]:
    """Encode a block of another family; empty if it has no equivalent."""
    match block:
        case Text():
            return [_output(_text(block.text))] if block.text.strip() else []
        case Media():
            return [_output(_media(block) or _text(encoder.describe(block)))]
        case ToolCall():
            return [
                {
                    "type": "function_call",
                    "id": encoder.ids.call(block.call_id),
                    "name": encoder.tool_name(block.name, allowed="a-zA-Z0-9_.:-"),
                    "arguments": encoder.arguments(block),
                }
            ]
        case ToolResult():
            return [_result(block, encoder)]
        case Thinking():
            encoder.lose("dropped_thinking", "another model's reasoning")
        case Other():
            encoder.lose_other(block.type)
    return []


def _result(result: ToolResult, encoder: Encoder) -> dict[str, Json]:
    text: list[str] = []
    media: list[Json] = []
    for part in result.content:
        if isinstance(part, Text):
            text.append(part.text)
        elif isinstance(part, Other):
            encoder.lose_other(part.type)
        elif (item := _media(part)) and part.kind == "image":
            media.append(item)
        else:
            text.append(encoder.describe(part, "tool_image_flattened"))
    joined = "\n".join(text)
    wire: dict[str, Json] = {"type": "function_result", "call_id": encoder.ids.result(result.call_id)}
    call = encoder.calls.get(result.call_id)
    name = call.name if call else result.name
    if name:
        native = call is not None and encoder.own(call.raw) is not None
        wire["name"] = name if native else encoder.tool_name(name, allowed="a-zA-Z0-9_.:-")
    wire["result"] = [*([_text(joined)] if joined else []), *media] if media else joined
    return {**wire, "is_error": True} if result.error else wire


def _output(content: Json) -> dict[str, Json]:
    return {"type": "model_output", "content": [content]}


def _text(text: Json) -> dict[str, Json]:
    return {"type": "text", "text": text}


def _media(media: Media) -> dict[str, Json] | None:
    """The content for media of another family; None for media that Interactions does not take."""
    if media.data and media.mime:
        return {"type": media.kind, "mime_type": media.mime, "data": to_base64(media.data)}
    if media.url is not None and not media.url.startswith(("s3:", "data:")):
        return {"type": media.kind, "uri": media.url, **({"mime_type": media.mime} if media.mime else {})}
    return None
