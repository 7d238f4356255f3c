"""The records of a file with chats: one object, a list, one per line, or one message per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO

from bough.importers.chats.shapes import is_message
from bough.importers.common.json_reader import (
    LOOKED_AT,
    Line,
    as_utf8,
    decode_text,
    json_items,
    json_lines,
    parse_json_or_none,
    read_json,
)
from bough.model import Json
from bough.model.imported import Skipped

GROUPS = ("conversation_id", "session_id", "thread_id", "chat_id")
"""Keys that say to which conversation a message belongs, in a file of messages."""


def records(stream: IO[bytes], place: str) -> Iterator[tuple[Json | Skipped, str]]:
    """The records of a file with their places. A list of messages, or a file of them, is one record."""
    stream = as_utf8(stream)
    start = bytes(stream.peek(LOOKED_AT)).lstrip()  # type: ignore[attr-defined]
    if start.startswith(b"["):
        yield from _listed(json_items(stream, place), place)
    elif parse_json_or_none(decode_text(start.split(b"\n", 1)[0])) is None:
        # If the first line is no complete object, the file is one object over several lines.
        yield read_json(stream, place), place
    else:
        yield from _lines(json_lines(stream, place), place)


def _listed(items: Iterator[Json | Skipped], place: str) -> Iterator[tuple[Json | Skipped, str]]:
    first = next(items, None)
    rest = chain([] if first is None else [first], items)
    if is_message(first):
        found = list(rest)
        yield [item for item in found if not isinstance(item, Skipped)], place
        yield from ((item, place) for item in found if isinstance(item, Skipped))
    else:
        yield from ((item, f"{place}[{number}]") for number, item in enumerate(rest))


def _lines(lines: Iterator[Line | Skipped], place: str) -> Iterator[tuple[Json | Skipped, str]]:
    groups: dict[str, list[Json]] = {}
    for line in lines:
        if isinstance(line, Skipped):
            yield line, line.place
        elif is_message(line.value):
            group = next((str(line.value[key]) for key in GROUPS if line.value.get(key)), "")
            groups.setdefault(group, []).append(line.value)
        else:
            yield line.value, line.place
    for group, messages in groups.items():
        yield ({"messages": messages, "conversation_id": group} if group else messages), place
