"""opencode's database. It also holds credentials: it is never copied, and only tables with conversations are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.order import eldest, latest_last
from bough.importers.common.position import Spawn
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.timestamps import from_milliseconds
from bough.importers.opencode.messages import Record
from bough.importers.opencode.tree import MessageParts, conversation
from bough.model.imported import Conversation, Skipped

SESSION = (
    "id", "project_id", "parent_id", "slug", "directory", "title", "version", "share_url", "revert", "agent", "model",
    "time_created", "time_updated", "time_archived",
)  # fmt: skip

ROLES = {"user": "user", "synthetic": "user", "shell": "user", "compaction": "user", "assistant": "assistant"}


def is_opencode(path: Path) -> bool:
    return has_tables(path, session=("id", "directory"), message=("session_id", "data"), part=("message_id", "data"))


class OpenCodeDatabase:
    def __init__(self, path: Path, seen: set[str], spawned: dict[str, Spawn]) -> None:
        self._path = path
        self._seen = seen
        """The sessions that were read already, here or from another file of opencode."""
        self._spawned = spawned

    def conversations(self) -> Iterator[Conversation]:
        with open_tables(self._path, in_place=True) as tables:
            rows = list(tables.rows("session", SESSION, order="time_created,id"))
            families = eldest({row["id"]: row["parent_id"] for row in rows})
            for row in latest_last(rows, _last_used, lambda row: families[row["id"]]):
                if row["id"] not in self._seen:
                    self._seen.add(row["id"])
                    yield self._conversation(tables, row)

    def _conversation(self, tables: Tables, row: dict[str, Any]) -> Conversation:
        info = {**row, "revert": parse_json_or_none(row["revert"]), "model": parse_json_or_none(row["model"])}
        is_newest = next(tables.rows("message", ("id",), session_id=row["id"]), None) is None
        messages = _newest_messages if is_newest else _messages
        return conversation(info, lambda: messages(tables, row["id"]), self._spawned)


def _last_used(row: dict[str, Any]) -> int:
    return from_milliseconds(row["time_updated"]) or 0


def _messages(tables: Tables, session: str) -> Iterator[MessageParts | Skipped]:
    """The messages by time: ids are not always ascending."""
    order = "time_created,id"
    for row in tables.rows("message", ("id", "data", "time_created"), order=order, session_id=session):
        info = parse_json_or_none(row["data"])
        if isinstance(info, dict):
            yield MessageParts({"id": row["id"], **info}, list(_parts(tables, row["id"])))
        else:
            yield Skipped(f"message:{row['id']}", "The data is not an object.", row["data"])


def _newest_messages(tables: Tables, session: str) -> Iterator[MessageParts | Skipped]:
    """The messages of a session in the table of the newest versions: one JSON object with all content each."""
    columns = ("id", "type", "data", "time_created", "time_updated")
    for row in tables.rows("session_message", columns, order="seq,time_created,id", session_id=session):
        data = parse_json_or_none(row["data"])
        data = data if isinstance(data, dict) else {"data": row["data"]}
        role = ROLES.get(row["type"], "system")
        time = {"created": row["time_created"], "completed": row["time_updated"]}
        yield MessageParts({"id": row["id"], "role": role, "time": time}, _content(row["type"], data))


def _content(kind: str, data: Record) -> list[Record]:
    content = data.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return content
    text = data.get("text")
    return [{"type": "text", "text": text} if isinstance(text, str) else {**data, "type": kind}]


def _parts(tables: Tables, message: str) -> Iterator[Record]:
    for row in tables.rows("part", ("id", "data"), order="time_created,id", message_id=message):
        data = parse_json_or_none(row["data"])
        yield {"id": row["id"], **data} if isinstance(data, dict) else {"id": row["id"], "data": row["data"]}
