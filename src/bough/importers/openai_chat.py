"""Chats in the shape of OpenAI's API: `{"messages": […]}` in a JSON file, a list of them, or one a line.

Such files name nothing. A message is called by a hash of itself and all before it, so conversations that begin alike
share their beginning; a conversation is called by its first exchange, so that one which is longer now has grown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import text_or_none
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import (
    LOOKED_AT,
    Line,
    as_utf8,
    decode_text,
    json_items,
    json_lines,
    parse_json_or_none,
    read_json,
    text_start,
)
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_seconds
from bough.model import Json
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


class OpenAIChats:
    name = "openai-chat"
    title = "OpenAI-style chats"

    def recognises(self, path: Path) -> bool:
        text = text_start(path)
        first = text.split("\n", 1)[0]
        return (
            is_chat_file(parse_json_or_none(first)) or is_chat_file(parse_json_or_none(text)) or looks_like_chat(text)
        )

    def default_paths(self) -> list[Path]:
        return []

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for name in files.names:
                with files.open(name) as stream:
                    yield from read_chats(stream, name)


def read_chats(stream: IO[bytes], place: str) -> Iterator[Conversation | Skipped]:
    stream = as_utf8(stream)
    for one, here in _chats(stream, place):
        if isinstance(one, Skipped):
            yield one
        elif is_chat(one):
            yield conversation(one, here)
        else:
            yield Skipped(here, "It has no list of messages.", one)


def _chats(stream: IO[bytes], place: str) -> Iterator[tuple[Json | Skipped, str]]:
    """What stands in a file for a conversation, and where: a whole list of messages is one."""
    start = bytes(stream.peek(LOOKED_AT)) if hasattr(stream, "peek") else b""
    if not start.lstrip().startswith(b"["):
        # The first line does not end its object: the file is one object, laid out over lines.
        if parse_json_or_none(decode_text(start.lstrip().split(b"\n", 1)[0])) is None:
            yield read_json(stream, place), place
        else:
            for line in json_lines(stream, place):
                yield (line.value, line.place) if isinstance(line, Line) else (line, line.place)
        return
    found = list(json_items(stream, place)) if looks_like_messages(start) else json_items(stream, place)
    if isinstance(found, list):
        yield {"messages": [item for item in found if not isinstance(item, Skipped)]}, place
        yield from ((item, place) for item in found if isinstance(item, Skipped))
    else:
        yield from ((item, f"{place}[{number}]") for number, item in enumerate(found))


def is_chat(value: Json) -> bool:
    return isinstance(value, dict) and is_messages(value.get("messages"))


def is_messages(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(
        isinstance(item, dict)
        and text_or_none(item.get("role")) in ROLES
        and ("content" in item or "tool_calls" in item)
        for item in value
    )  # fmt: skip


def is_chat_file(value: Json) -> bool:
    return (
        is_chat(value) or is_messages(value) or (isinstance(value, list) and bool(value) and all(map(is_chat, value)))
    )


def looks_like_messages(start: bytes) -> bool:
    """Whether a list begins with a message, not with a conversation."""
    beginning = start.lstrip()[1:200].lstrip()
    return beginning.startswith(b'{"role"') or (b'"role"' in beginning and b'"messages"' not in beginning)


def looks_like_chat(text: str) -> bool:
    """Whether a file that is torn, or too long to be read at once, begins like chats."""
    return text.startswith(("{", "[")) and '"messages"' in text[:2_000] and '"role"' in text[:4_000]


def conversation(chat: dict[str, Json], place: str) -> Conversation:
    names = list(chained(chat["messages"]))
    first_reply = next((i for i, item in enumerate(chat["messages"]) if item["role"] == "assistant"), 0)
    rest = {key: value for key, value in chat.items() if key != "messages"}
    given = text_or_none(chat.get("id")) or text_or_none(chat.get("conversation_id"))
    return Conversation(
        OpenAIChats.name, given or names[first_reply], _said(chat, names, place),
        title=text_or_none(chat.get("title")), model=text_or_none(chat.get("model")),
        created_at=from_seconds(chat.get("created")), extra=rest or None,
    )  # fmt: skip


def _said(chat: dict[str, Json], names: list[str], place: str) -> Iterator[Item]:
    decode, parent = get("openai.chat").decode, None
    for number, (message, name) in enumerate(zip(chat["messages"], names, strict=True)):
        try:
            decoded = decode([message]).messages
        except FormatError as error:
            yield Skipped(f"{place}.messages[{number}]", str(error), message)
            continue
        for part, one in enumerate(decoded):
            id = f"{name}.{part}" if part else name
            yield ImportedMessage(
                id, one, parent, model=text_or_none(chat.get("model")) if one.role == "assistant" else None
            )
            parent = id


IMPORTER = OpenAIChats()
