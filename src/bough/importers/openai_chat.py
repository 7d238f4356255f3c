"""Chats in the format of OpenAI's API: `{"messages": […]}` in a JSON file, a list of them, or one per line.

Such files have no ids. A message's id is a hash of itself and all before it, so equal beginnings are shared. A
conversation's id is that of its first reply, so a longer version of it is recognised.
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
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


class OpenAIChatFiles:
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
    for chat, chat_place in _chats(stream, place):
        if isinstance(chat, Skipped):
            yield chat
        elif is_chat(chat):
            yield conversation(chat, chat_place)
        else:
            yield Skipped(chat_place, "It has no list of messages.", chat)


def _chats(stream: IO[bytes], place: str) -> Iterator[tuple[Json | Skipped, str]]:
    """The chats of a file with their places; a list of messages is one chat."""
    start = bytes(stream.peek(LOOKED_AT)) if hasattr(stream, "peek") else b""
    if not start.lstrip().startswith(b"["):
        # If the first line is no complete object, the file is one object over several lines.
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
    """Whether a list begins with a message rather than a conversation."""
    beginning = start.lstrip()[1:200].lstrip()
    return beginning.startswith(b'{"role"') or (b'"role"' in beginning and b'"messages"' not in beginning)


def looks_like_chat(text: str) -> bool:
    """Whether a file that is truncated, or too long to read at once, begins like a chat."""
    return text.startswith(("{", "[")) and '"messages"' in text[:2_000] and '"role"' in text[:4_000]


def conversation(chat: dict[str, Json], place: str) -> Conversation:
    ids = list(chained(chat["messages"]))
    first_reply = next((i for i, item in enumerate(chat["messages"]) if item["role"] == "assistant"), 0)
    rest = {key: value for key, value in chat.items() if key != "messages"}
    given_id = text_or_none(chat.get("id")) or text_or_none(chat.get("conversation_id"))
    return Conversation(
        OpenAIChatFiles.name, given_id or ids[first_reply], _items(chat, ids, place),
        title=text_or_none(chat.get("title")), model=text_or_none(chat.get("model")),
        created_at=from_seconds(chat.get("created")), extra=rest or None,
    )  # fmt: skip


def _items(chat: dict[str, Json], ids: list[str], place: str) -> Iterator[Item]:
    decode, parent = get("openai.chat").decode, None
    for number, (message, id) in enumerate(zip(chat["messages"], ids, strict=True)):
        try:
            decoded = decode([message]).messages
        except FormatError as error:
            yield Skipped(f"{place}.messages[{number}]", str(error), message)
            continue
        for part, one in enumerate(decoded):
            message_id = f"{id}.{part}" if part else id
            model = text_or_none(chat.get("model")) if one.role == "assistant" else None
            yield ImportedMessage(message_id, one, parent, model=model)
            parent = message_id


IMPORTER: Importer = OpenAIChatFiles()
