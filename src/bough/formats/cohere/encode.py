"""Prepare content of other formats that Chat takes and Cohere does not."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import EMPTY, Encoder
from bough.formats.payload import parsed, written
from bough.model import Block, Media, Message, Text, ToolCall, ToolResult
from bough.model.values import replace


def prepared(messages: Sequence[Message], encoder: Encoder) -> list[Message]:
    """The messages with media other than images described, arguments as objects, and a text in empty messages."""
    return [_prepared(message, encoder) for message in encoder.messages(messages)]


def _prepared(message: Message, encoder: Encoder) -> Message:
    blocks = tuple(_block(block, message, encoder) for block in encoder.blocks(message.blocks))
    if not encoder.own(message.envelope) and message.role != "tool_result" and not any(map(_is_sent, blocks)):
        encoder.lose("blank_replaced", f"an empty message of the {message.role}")
        return replace(message, blocks=(*(block for block in blocks if not isinstance(block, Text)), Text(EMPTY)))
    return replace(message, blocks=blocks) if blocks != message.blocks else message


def _block(block: Block, message: Message, encoder: Encoder) -> Block:
    if encoder.own(block.raw) is not None:
        return block
    if isinstance(block, Media) and not (message.role == "user" and _is_image(block)):
        return Text(encoder.describe(block))
    if isinstance(block, ToolCall):
        return _with_object(block, encoder)
    return block


def _with_object(call: ToolCall, encoder: Encoder) -> ToolCall:
    if parsed(call.arguments) is not None:
        return call
    return replace(call, arguments=written(encoder.arguments(call)))


def _is_image(media: Media) -> bool:
    return media.kind == "image" and (
        media.data is not None or (media.url or "").startswith(("http:", "https:", "data:"))
    )


def _is_sent(block: Block) -> bool:
    """Whether a block of another family is sent, so that its message is not empty."""
    return isinstance(block, (ToolCall, Media, ToolResult)) or (isinstance(block, Text) and bool(block.text.strip()))
