"""Messages: a role and its blocks. A message has no identity; the same one may occur at many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from bough.model.blocks import Block, Json, Media, Other, Part, Text, ToolCall, ToolResult, blocks_of
from bough.model.values import value

Role: TypeAlias = Literal["user", "assistant", "tool_result", "system"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool_result", "system")


@value
class Message:
    """A role and its blocks, in order. `envelope` is what the provider sent around the content, verbatim."""

    role: Role
    blocks: tuple[Block, ...]
    error: bool = False
    envelope: Json = None

    @property
    def text(self) -> str:
        """What was said: the text blocks, one under the other."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))


@value
class Save:
    """A message to save. `parent_id` is an id, or an earlier `Save` of the same call; None starts a new tree.

    `created_at` is for history that happened elsewhere; a time in the future, or not after the parent's, is mended.
    """

    message: Message
    parent_id: str | Save | None = None
    label: str | None = None
    created_at: int | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def user(*parts: Part) -> Message:
    """A message from the user."""
    return Message("user", blocks_of(parts))


def assistant(*parts: Part) -> Message:
    """A message from the model: words, thinking, tool calls."""
    return Message("assistant", blocks_of(parts))


def system(*parts: Part) -> Message:
    """A note in mid-conversation. System prompts are not messages: an application rebuilds them."""
    return Message("system", blocks_of(parts))


def tool_result(call_id: str, content: str | Sequence[str | Text | Media | Other] = "", error: bool = False) -> Message:
    """The message that answers one call."""
    parts = (content,) if isinstance(content, str) else tuple(content)
    blocks = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Message("tool_result", (ToolResult(call_id, blocks, error),), error)
