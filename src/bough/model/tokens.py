"""Token estimates, without a network or a tokenizer.

Text is estimated from its length in UTF-8, which is accurate to 25 % for prose, code and JSON in most scripts; base64
and hex take more tokens. If a path has counts from the provider, `context` scales the estimates to them.
"""

from __future__ import annotations

import re

from bough.model import Block, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

VERSION = 1
"""Increase it with every change of an estimate, together with the schema version (docs/decisions/0021)."""
BYTES_PER_TOKEN = 3.5
DENSE_BYTES_PER_TOKEN = 1.4
MESSAGE = 4
"""Tokens of the role and delimiters of a message."""
IMAGE = 1_500
DOCUMENT_BYTES_PER_TOKEN = 50
SECOND_OF_SOUND = 32_000
"""Bytes: 16-bit mono at 16 kHz. A second counts as 25 tokens."""

DENSE = r"[A-Za-z0-9+/=_-]{200}"
"""base64 or hex: no prose or code has so long a run without a space."""


def estimate(message: Message) -> int:
    """The estimated tokens of a message; at least 4."""
    return MESSAGE + sum(map(estimate_block, message.blocks))


def estimate_block(block: Block) -> int:
    match block:
        case Text() | Thinking():
            return estimate_text(block.text)
        case ToolCall():
            return estimate_text(block.name) + estimate_text(block.arguments) + MESSAGE
        case ToolResult():
            return MESSAGE + sum(map(estimate_block, block.content))
        case Media():
            return estimate_media(block)
        case Other():
            return estimate_text(str(block.raw))


def estimate_text(text: str, size: int | None = None) -> int:
    """The estimated tokens of a text. `size` is its length in UTF-8, if the caller has it."""
    if size is None:
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    dense = size > 200 and " " not in text[:200] and re.match(DENSE, text) is not None
    return -int(-size // (DENSE_BYTES_PER_TOKEN if dense else BYTES_PER_TOKEN))


def estimate_media(media: Media) -> int:
    if media.kind == "image" or media.data is None:
        return IMAGE
    if media.kind == "document":
        return max(IMAGE, len(media.data) // DOCUMENT_BYTES_PER_TOKEN)
    return max(IMAGE, len(media.data) * 25 // SECOND_OF_SOUND)
