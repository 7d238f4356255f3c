"""Lists in which each tool result is a message of its own, with the role `tool`: Chat Completions and Ollama."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeAlias

from bough.formats.payload import as_dict
from bough.model import Json, Message, ToolResult

DecodeMessage: TypeAlias = Callable[[dict[str, Json], str], Message]
DecodeResult: TypeAlias = Callable[[dict[str, Json], str], ToolResult]


def decode_list(
    items: list[Json], roles: Container[Json], decode_result: DecodeResult, decode_message: DecodeMessage
) -> list[Message]:
    """The messages of a list. Results in a row, which have one of these `roles`, are one message.

    Raises `FormatError`.
    """
    messages: list[Message] = []
    results: list[ToolResult] = []
    for position, item in enumerate(items):
        where = f"messages[{position}]"
        wire = as_dict(item, where)
        role = wire.get("role")
        if isinstance(role, str) and role in roles:
            results.append(decode_result(wire, where))
            continue
        messages += _message_of(results)
        results = []
        messages.append(decode_message(wire, where))
    return [*messages, *_message_of(results)]


def _message_of(results: list[ToolResult]) -> list[Message]:
    return [Message("tool_result", tuple(results))] if results else []
