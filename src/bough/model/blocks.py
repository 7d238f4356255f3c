"""Blocks: the units of content that a message is made of.

Every block may carry two values that bough does not interpret: `extra`, what the application or a format keeps with it,
and `raw`, the provider's own JSON for this block, verbatim. Both are JSON values, are never modified in place, and are
not part of a message's digest: two messages with the same content are equal however they were transmitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from bough.model.values import value

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, a list or a dict with string keys."""

MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]


@value
class Text:
    """Words."""

    text: str
    extra: Json = None
    raw: Json = None


@value
class Thinking:
    """A model's reasoning. The text may be empty when the provider sent only a sealed form, which is then in `raw`."""

    text: str
    extra: Json = None
    raw: Json = None


@value
class ToolCall:
    """A request to run a tool. `arguments` is the exact text that the provider sent, usually JSON."""

    call_id: str
    name: str
    arguments: str
    extra: Json = None
    raw: Json = None

    @property
    def input(self) -> Json:
        """The arguments, parsed; raises `ValueError` when they are not JSON."""
        return json.loads(self.arguments)


@value
class Media:
    """An image, a sound, a video or a document: exactly one of bytes, a URL, or a provider's file id."""

    kind: MediaKind
    mime: str
    data: bytes | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    extra: Json = None
    raw: Json = None

    def __post_init__(self) -> None:
        if sum(source is not None for source in (self.data, self.url, self.file_id)) != 1:
            raise ValueError("Media takes exactly one of data, url and file_id")


@value
class Other:
    """Something bough does not know. It is kept as it came, and given back to the provider it came from."""

    type: str
    raw: Json
    extra: Json = None


@value
class ToolResult:
    """What a tool answered to the call with the same `call_id`."""

    call_id: str
    content: tuple[Text | Media | Other, ...] = ()
    error: bool = False
    name: str | None = None
    extra: Json = None
    raw: Json = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media | Other

Part: TypeAlias = str | Block
"""What the makers accept: a string means a `Text`."""


@value
class Tool:
    """A tool that a model may call: its name, what it is for, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Json


def blocks_of(parts: Iterable[Part]) -> tuple[Block, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def tool_call(call_id: str, name: str, arguments: Json = "{}") -> ToolCall:
    """A call, as a block of an assistant's message. A string is kept as it is, any other JSON value is written out."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call_id, name, text)
