"""Decode one message of ChatGPT. Calls and results have no ids there; they match by their positions."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.payload import at, text_or_none
from bough.importers.chatgpt.assets import Assets, pointer_id
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

FAMILY = "chatgpt"
KEPT_ELSEWHERE = {"id", "create_time", "content", "author", "metadata"}
KEPT_ON_TURN = {"model_slug", "request_id"}
USUAL: dict[str, Json] = {"weight": 1.0, "recipient": "all", "status": "finished_successfully"}
"""Defaults of nearly every message, which are not kept."""
EMPTY: tuple[Json, ...] = (None, "", [], {})
CONTEXT = ("user_profile", "user_instructions", "about_user_message", "about_model_message", "model_set_context")


def read_message(message: dict[str, Json], name: str, call: str | None, assets: Assets) -> Message | None:
    """The message; None if it has no content. `call` is the id of the call that a result answers."""
    role, content = at(message, "author", "role"), message.get("content")
    blocks = (*_blocks(content, assets), *_attachments(message, assets))
    if not blocks:
        return None
    envelope = _envelope(message)
    tool = text_or_none(at(message, "author", "name"))
    if role == "tool":
        content = tuple(_result_content(block) for block in blocks)
        failed = at(message, "metadata", "aggregate_result", "status") in ("failed", "failed_with_in_kernel_exception")
        return Message("tool_result", (ToolResult(call or name, content, failed, tool),), failed, envelope)
    recipient = text_or_none(message.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return Message("assistant", _calls(blocks, name, recipient), envelope=envelope)
    if role == "assistant":
        return Message("assistant", blocks, envelope=envelope)
    if role == "user" and at(content, "content_type") != "user_editable_context":
        return Message("user", blocks, envelope=envelope)
    return Message("system", blocks, envelope=envelope)


def _envelope(message: dict[str, Json]) -> Json:
    """The fields other than the content, without empty and default ones."""
    author, metadata = message.get("author"), message.get("metadata")
    rest = {
        **{key: value for key, value in message.items() if key not in KEPT_ELSEWHERE and value != USUAL.get(key)},
        "author": _filled(author, {"role"}),
        "metadata": _filled(metadata, KEPT_ON_TURN),
    }
    kept = {key: value for key, value in rest.items() if value not in EMPTY}
    return {FAMILY: kept} if kept else None


def _filled(value: Json, omitted: set[str]) -> Json:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in omitted and item not in EMPTY}


def _calls(blocks: tuple[Block, ...], name: str, recipient: str) -> tuple[Block, ...]:
    """The text for a tool as a call, after the other blocks."""
    text = [block.text for block in blocks if isinstance(block, Text)]
    others = [block for block in blocks if not isinstance(block, Text)]
    return (*others, ToolCall(name, recipient, "\n".join(text)))


def _result_content(block: Block) -> Text | Media | Other:
    if isinstance(block, (Text, Media, Other)):
        return block
    return Text(block.text) if isinstance(block, Thinking) else Other("unknown", None)


def _blocks(content: Json, assets: Assets) -> Iterator[Block]:
    kind = text_or_none(at(content, "content_type"))
    raw = {FAMILY: content}
    match kind:
        case "text" | "multimodal_text":
            for part in content.get("parts") or ():
                yield from _part(part, assets)
        case "code" | "execution_output":
            if text := text_or_none(content.get("text")):
                yield Text(text, raw=raw if content.get("language") not in (None, "", "unknown") else None)
        case "thoughts":
            yield from _thoughts(content)
        case "reasoning_recap":
            yield Thinking(text_or_none(content.get("content")) or "", raw=raw)
        case "tether_quote":
            yield Text(text_or_none(content.get("text")) or "", raw=raw)
        case "tether_browsing_display" | "system_error":
            if text := text_or_none(content.get("result") or content.get("text")):
                yield Text(text, raw=raw)
        case "user_editable_context" | "model_editable_context":
            text = "\n\n".join(text for key in CONTEXT if (text := text_or_none(content.get(key))))
            yield from [Text(text, raw=raw)] if text else []
        case _ if content:
            yield Other(kind or "unknown", raw)


def _thoughts(content: dict[str, Json]) -> Iterator[Block]:
    for thought in content.get("thoughts") or ():
        summary, text = text_or_none(at(thought, "summary")), text_or_none(at(thought, "content"))
        text = "\n\n".join(part for part in (summary, text) if part)
        if text:
            yield Thinking(text, raw={FAMILY: thought})


def _part(part: Json, assets: Assets) -> Iterator[Block]:
    if isinstance(part, str):
        if part:
            yield Text(part)
    elif isinstance(pointer := at(part, "asset_pointer"), str):
        yield assets.media(pointer, None, None, {FAMILY: part})
    elif isinstance(text := at(part, "text"), str) and at(part, "content_type") == "audio_transcription":
        yield Text(text, raw={FAMILY: part})
    elif isinstance(pointer := at(part, "audio_asset_pointer", "asset_pointer"), str):
        yield assets.media(pointer, None, None, {FAMILY: part})
    else:
        yield Other(text_or_none(at(part, "content_type")) or "unknown", {FAMILY: part})


def _attachments(message: dict[str, Json], assets: Assets) -> Iterator[Block]:
    """The attachments that are not part of the content."""
    attached = at(message, "metadata", "attachments")
    if not isinstance(attached, list):
        return
    parts = at(message, "content", "parts")
    pointers = (text_or_none(at(part, "asset_pointer")) for part in (parts if isinstance(parts, list) else ()))
    shown = {pointer_id(pointer) or pointer for pointer in pointers if pointer}
    for one in attached:
        name = text_or_none(at(one, "id"))
        if name and (pointer_id(name) or name) not in shown:
            mime = text_or_none(at(one, "mime_type") or at(one, "mimeType"))
            yield assets.media(name, text_or_none(at(one, "name")), mime, {FAMILY: one})
