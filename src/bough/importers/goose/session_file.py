"""A goose session in a file of its own: JSON lines of older versions, or an export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from bough.formats.payload import at, text_or_none
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.importers.goose.tree import SessionReader, StoredMessage
from bough.model import Json
from bough.model.imported import Conversation, Item, Skipped

NAME = "goose"
KEPT_ELSEWHERE = {
    "id",
    "working_dir",
    "description",
    "name",
    "conversation",
    "extension_data",
    "created_at",
    "updated_at",
}


def is_first_line(record: Json) -> bool:
    """Whether a line can be the first of a session file: its metadata, or a message."""
    return isinstance(at(record, "working_dir"), str) or (is_message(record) and "created" in record)


def is_message(record: Json) -> bool:
    return isinstance(at(record, "role"), str) and isinstance(at(record, "content"), list)


def is_export(record: Json) -> bool:
    return isinstance(at(record, "working_dir"), str) and isinstance(at(record, "conversation"), list)


def stored(record: dict[str, Json]) -> StoredMessage:
    return StoredMessage(
        text_or_none(record.get("id")), record["role"], record["content"], record.get("created"), record.get("metadata")
    )


def read_session_file(files: Files, name: str) -> Iterator[Conversation]:
    """The session of a file of JSON lines: the metadata, then the messages."""
    session = PurePosixPath(name).stem
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    header = first.value if isinstance(first, Line) and not is_message(first.value) else {}
    yield _conversation(session, header, _items(files, name, session))


def read_export(record: Json, place: str) -> Conversation | Skipped:
    if not is_export(record):
        return Skipped(place, "It is not a session.", record)
    session = text_or_none(record.get("id")) or PurePosixPath(place).stem
    messages = (stored(record) for record in record["conversation"] if is_message(record))
    return _conversation(session, record, SessionReader(session, None, None, {}).items(messages))


def _conversation(session: str, header: Json, items: Iterator[Item]) -> Conversation:
    header = header if isinstance(header, dict) else {}
    rest = {key: value for key, value in header.items() if value is not None and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        session,
        items,
        title=shortened(text_or_none(header.get("name") or header.get("description")) or ""),
        directory=text_or_none(header.get("working_dir")),
        created_at=from_iso(header.get("created_at")),
        updated_at=from_iso(header.get("updated_at")),
        extra={NAME: rest} if rest else None,
    )


def _items(files: Files, name: str, session: str) -> Iterator[Item]:
    skipped: list[Skipped] = []
    for message_id in SessionReader(session, None, None, {}).items(_messages(files, name, skipped)):
        yield from skipped
        skipped.clear()
        yield message_id
    yield from skipped


def _messages(files: Files, name: str, skipped: list[Skipped]) -> Iterator[StoredMessage]:
    with files.open(name) as stream:
        for line in json_lines(stream, name):
            if isinstance(line, Skipped):
                skipped.append(line)
            elif is_message(line.value):
                yield stored(line.value)
            elif line.number > 1:
                skipped.append(Skipped(line.place, "It is not a message.", line.value))
