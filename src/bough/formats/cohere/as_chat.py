"""Cohere's items have the shape of Chat's, so Chat's functions decode and encode them under another name.

A provider's JSON is kept under the name of its own family. For a call of Chat's functions, Cohere's takes Chat's name,
and what is Chat's own is hidden, so that it is encoded as that of another family.
"""

from __future__ import annotations

from collections.abc import Iterable

from bough.model import Block, Json, Message, ToolResult
from bough.model.values import replace

FAMILY = "cohere"
_CHAT = "openai.chat"
_HIDDEN = "openai.chat (of another server)"


def as_chat(messages: Iterable[Message]) -> list[Message]:
    """The messages with Cohere's items in the place of Chat's."""
    return [_renamed(message, {_CHAT: _HIDDEN, FAMILY: _CHAT}) for message in messages]


def from_chat(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Inverse of `as_chat`."""
    return tuple(_renamed(message, {_CHAT: FAMILY, _HIDDEN: _CHAT}) for message in messages)


def _renamed(message: Message, names: dict[str, str]) -> Message:
    blocks = tuple(_renamed_block(block, names) for block in message.blocks)
    return replace(message, blocks=blocks, envelope=_renamed_keys(message.envelope, names))


def _renamed_block(block: Block, names: dict[str, str]) -> Block:
    if isinstance(block, ToolResult):
        content = tuple(replace(part, raw=_renamed_keys(part.raw, names)) for part in block.content)
        return replace(block, raw=_renamed_keys(block.raw, names), content=content)
    return replace(block, raw=_renamed_keys(block.raw, names)) if block.raw else block


def _renamed_keys(kept: Json, names: dict[str, str]) -> Json:
    if not isinstance(kept, dict) or not kept.keys() & names.keys():
        return kept
    return {names.get(key, key): value for key, value in kept.items()}
