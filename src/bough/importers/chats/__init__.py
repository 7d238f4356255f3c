"""Chats in files: requests in the format of any provider, batches and datasets; an object, a list, or one per line.

Such files have no ids of messages, so a message's id is a hash of itself and all before it: equal beginnings are
shared, and a longer version of a chat is recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bough.importers.chats.dialogs import conversation
from bough.importers.chats.records import records
from bough.importers.chats.shapes import dialog_of, is_message, reply_of
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import LOOKED_AT, parse_json, text_start
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

LINES_TO_TRY = 20
LINES = (".jsonl", ".ndjson")
_BEGINNING = re.compile(
    r'"(messages|conversations?|contents|input|history)"\s*:\s*\[\s*\{\s*"(role|from|content|parts|value|type)"\s*:'
)
_OTHER_FILES = re.compile(r'"(openapi|swagger|interactions|recorded_at|log|har|paths|\$schema)"\s*:')
"""Keys of recordings and API descriptions, which contain examples of chats."""


class ChatFiles:
    name = "chats"
    title = "Chat files and datasets"

    def recognises(self, path: Path) -> bool:
        text = text_start(path)
        if not text.startswith(("{", "[")) or _OTHER_FILES.search(text[:300]):
            return False
        try:
            value = parse_json(text)
            # One message is a file of messages only among lines; other programs keep each message in a file.
            return _is_chats(value) or (path.suffix in LINES and is_message(value))
        except ValueError:  # lines, or a file that is longer than its start
            lines = (line for line in text.split("\n")[:LINES_TO_TRY] if line.strip())
            return any(_is_chats(one) or is_message(one) for one in map(_parsed, lines)) or _looks_like_chats(text)

    def default_paths(self) -> list[Path]:
        return []

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for name in files.names:
                with files.open(name) as stream:
                    for record, place in records(stream, name):
                        yield record if isinstance(record, Skipped) else _conversation(record, place)


def _conversation(record: Json, place: str) -> Conversation | Skipped:
    if dialog := dialog_of(record):
        return conversation(dialog, place)
    if reply_of(record) is not None:
        return Skipped(place, "It is the reply of a batch without its request; import the file of requests.", record)
    return Skipped(place, "It has no list of messages.", record)


def _parsed(line: str) -> Json:
    try:
        return parse_json(line)
    except ValueError:
        return None


def _is_chats(value: Json) -> bool:
    if isinstance(value, list) and not is_message(value[0] if value else None):
        return any(dialog_of(one) is not None for one in value[:LINES_TO_TRY] if isinstance(one, dict))
    return dialog_of(value) is not None


def _looks_like_chats(text: str) -> bool:
    """Whether a file that is cut off, or too long to parse here, begins like chats."""
    return (len(text) > 0 and bool(_BEGINNING.search(text[: LOOKED_AT // 4]))) or _first_is_message(text)


def _first_is_message(text: str) -> bool:
    return re.match(r'\[\s*\{\s*"(role|from)"\s*:\s*"\w+"\s*,\s*"(content|value|parts)"', text) is not None


IMPORTER: Importer = ChatFiles()
