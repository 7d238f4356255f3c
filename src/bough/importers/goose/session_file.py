"""A session of goose in a file of its own: lines of JSON, as older versions kept it, or an export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from bough.formats.payload import at, text_or_none
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.importers.goose.tree import Spoken, Telling
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


def is_heading(record: Json) -> bool:
    """Whether the first line of a file speaks of a session, or is itself a message of one."""
    return isinstance(at(record, "working_dir"), str) or (is_message(record) and "created" in record)


def is_message(record: Json) -> bool:
    return isinstance(at(record, "role"), str) and isinstance(at(record, "content"), list)


def is_export(told: Json) -> bool:
    return isinstance(at(told, "working_dir"), str) and isinstance(at(told, "conversation"), list)


def spoken(record: dict[str, Json]) -> Spoken:
    return Spoken(
        text_or_none(record.get("id")), record["role"], record["content"], record.get("created"), record.get("metadata")
    )


def read_lines(files: Files, name: str) -> Iterator[Conversation]:
    """The session of one file of lines: the first tells of it, the others are its messages."""
    session = PurePosixPath(name).stem
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    heading = first.value if isinstance(first, Line) and not is_message(first.value) else {}
    yield _conversation(session, heading, _items(files, name, session))


def read_export(told: Json, place: str) -> Conversation | Skipped:
    if not is_export(told):
        return Skipped(place, "not a session", told)
    session = text_or_none(told.get("id")) or PurePosixPath(place).stem
    messages = (spoken(record) for record in told["conversation"] if is_message(record))
    return _conversation(session, told, Telling(session, None, None, {}).items(messages))


def _conversation(session: str, heading: Json, items: Iterator[Item]) -> Conversation:
    heading = heading if isinstance(heading, dict) else {}
    rest = {key: value for key, value in heading.items() if value is not None and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        session,
        items,
        title=shortened(text_or_none(heading.get("name") or heading.get("description")) or ""),
        directory=text_or_none(heading.get("working_dir")),
        created_at=from_iso(heading.get("created_at")),
        updated_at=from_iso(heading.get("updated_at")),
        extra={NAME: rest} if rest else None,
    )


def _items(files: Files, name: str, session: str) -> Iterator[Item]:
    skipped: list[Skipped] = []
    for said in Telling(session, None, None, {}).items(_messages(files, name, skipped)):
        yield from skipped
        skipped.clear()
        yield said
    yield from skipped


def _messages(files: Files, name: str, skipped: list[Skipped]) -> Iterator[Spoken]:
    with files.open(name) as stream:
        for line in json_lines(stream, name):
            if isinstance(line, Skipped):
                skipped.append(line)
            elif is_message(line.value):
                yield spoken(line.value)
            elif line.number > 1:
                skipped.append(Skipped(line.place, "not a message", line.value))
