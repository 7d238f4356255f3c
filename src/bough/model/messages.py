"""Messages: a role and blocks. A message has no identity: equal messages may be stored at many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from bough.model.blocks import Block, Json, Media, Other, Part, Text, ToolCall, ToolResult, blocks_of
from bough.model.values import value

if TYPE_CHECKING:
    from bough.model.times import Time

Role: TypeAlias = Literal["user", "assistant", "tool_result", "system"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool_result", "system")


@value
class Message:
    """A role and blocks, in order. `envelope` is the JSON that the provider sent around the content, verbatim."""

    role: Role
    blocks: tuple[Block, ...]
    error: bool = False
    envelope: Json = None

    @property
    def text(self) -> str:
        """The text blocks, joined by line breaks."""
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

    `created_at` (microseconds or a datetime) is for imported history. A time in the future, or not after the parent's,
    is corrected.
    """

    message: Message
    parent_id: str | Save | None = None
    label: str | None = None
    created_at: Time | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def user(*parts: Part) -> Message:
    """A user message."""
    return Message("user", blocks_of(parts))


def assistant(*parts: Part) -> Message:
    """An assistant message: text, thinking, tool calls."""
    return Message("assistant", blocks_of(parts))


def system(*parts: Part) -> Message:
    """A system message within a conversation. The system prompt is not stored; the application builds it."""
    return Message("system", blocks_of(parts))


def tool_result(call_id: str, content: str | Sequence[str | Text | Media | Other] = "", error: bool = False) -> Message:
    """A message with the result of one tool call."""
    parts = (content,) if isinstance(content, str) else tuple(content)
    blocks = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Message("tool_result", (ToolResult(call_id, blocks, error),), error)
