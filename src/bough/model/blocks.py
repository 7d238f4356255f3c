"""Blocks: the units of content of a message.

Every block may carry two values that bough does not interpret: `extra`, data of the application or a format, and `raw`,
the provider's JSON for this block, verbatim. Both are JSON values that are never modified in place. They are not part
of a message's digest, which depends on the content and not on its encoding.
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
    """Plain text."""

    tag = "text"

    text: str
    extra: Json = None
    raw: Json = None


@value
class Thinking:
    """A model's reasoning. The text is empty if the provider sent only an encrypted form, which is then in `raw`."""

    tag = "thinking"

    text: str
    extra: Json = None
    raw: Json = None


@value
class ToolCall:
    """A request to run a tool. `arguments` is the provider's text, unchanged; usually JSON."""

    tag = "tool_call"

    call_id: str
    name: str
    arguments: str
    extra: Json = None
    raw: Json = None

    @property
    def input(self) -> Json:
        """The parsed arguments. Raises `ValueError` if they are not JSON."""
        return json.loads(self.arguments)


@value
class Media:
    """An image, audio, a video or a document: exactly one of bytes, a URL, and a provider's file id."""

    tag = "media"

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
    """A block of an unknown type. It is stored verbatim, and sent only to the provider that it came from."""

    tag = "other"

    type: str
    raw: Json
    extra: Json = None


@value
class ToolResult:
    """The result of the tool call with the same `call_id`."""

    tag = "tool_result"

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
"""An argument of `user`, `assistant` and `system`: a string means a `Text`."""


@value
class Tool:
    """A tool that a model may call: its name, its description, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Json


def blocks_of(parts: Iterable[Part]) -> tuple[Block, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def tool_call(call_id: str, name: str, arguments: Json = "{}") -> ToolCall:
    """A tool call block. Arguments that are a string are kept unchanged; any other JSON value is serialised."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call_id, name, text)
