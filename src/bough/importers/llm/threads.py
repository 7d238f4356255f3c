"""llm since 0.32: messages with parents, and threads and turns that refer to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bough.formats.payload import count
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.sqlite import Tables
from bough.importers.common.timestamps import from_iso
from bough.importers.llm.content import Content, Row, envelope, usage
from bough.model import Message, Role
from bough.model.imported import ImportedMessage
from bough.model.values import replace

TURNS = (
    "id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "resolved_model", "options_json",
    "response_json", "schema_id", "input_tokens", "output_tokens", "token_details", "duration_ms", "datetime_utc",
)  # fmt: skip
KEPT = ("options_json", "response_json", "duration_ms", "schema_id")
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool_result"}


class Stored(NamedTuple):
    """A stored message; its hash covers everything before it too."""

    hash: str
    parent: str | None
    role: str
    metadata: str | None


class ThreadTables:
    """Reads the messages that the turns of a thread added or were given."""

    def __init__(self, tables: Tables, content: Content) -> None:
        self._tables = tables
        self._content = content
        rows = tables.rows("threads", ("id", "forked_from"), order="id")
        self._origin = {str(row["id"]): row["forked_from"] for row in rows}

    def family(self, thread: str) -> str:
        """The first thread of a family of forks. Ids contain it: only forks share messages, not all equal prompts."""
        seen = {thread}
        while (above := self._origin.get(thread)) is not None and above not in seen:
            seen.add(thread := str(above))
        return thread

    def turns(self, thread: str) -> Iterator[Row]:
        return self._tables.rows("turns", TURNS, order="id", thread_id=thread)

    def items(self, thread: str, tip: str | None, older: dict[str, Row]) -> Iterator[ImportedMessage]:
        """The messages of a thread. `older` has rows of the older tables by their text, for replies without a turn."""
        seen: set[str] = set()
        for turn in self.turns(thread):
            for stored in self._up_to(turn["parent_message_hash"], seen):
                yield self._message(thread, stored, turn["datetime_utc"], older)
            for stored in self._up_to(turn["tip_message_hash"], seen):
                yield self._reply(self._message(thread, stored, turn["datetime_utc"], {}), turn)
        for stored in self._up_to(tip, seen):
            yield self._message(thread, stored, None, older)

    def _up_to(self, tip: str | None, seen: set[str]) -> list[Stored]:
        """The messages on the path to `tip` that are not in `seen`, oldest first."""
        path: list[Stored] = []
        while tip is not None and tip not in seen:
            stored = self._stored(tip)
            if stored is None:
                break
            seen.add(tip)
            path.append(stored)
            tip = stored.parent
        return path[::-1]

    def _stored(self, name: str) -> Stored | None:
        for row in self._tables.rows("messages", ("hash", "parent_hash", "role", "provider_metadata"), hash=name):
            return Stored(row["hash"], row["parent_hash"], str(row["role"]), row["provider_metadata"])
        return None

    def _message(self, thread: str, stored: Stored, time: str | None, older: dict[str, Row]) -> ImportedMessage:
        family = self.family(thread)
        metadata = parse_json_or_none(stored.metadata)
        extra = {"llm": {"provider_metadata": metadata}} if metadata else None
        message = Message(ROLES.get(stored.role, "system"), tuple(self._content.blocks(stored.hash)), envelope=extra)
        parent = f"{family}:{stored.parent}" if stored.parent else None
        imported = ImportedMessage(f"{family}:{stored.hash}", message, parent, from_iso(time))
        before = older.pop(message.text, None) if message.role == "assistant" else None
        return self._reply(imported, before) if before else imported

    def _reply(self, imported: ImportedMessage, row: Row) -> ImportedMessage:
        """A reply with the provenance of its row."""
        message, kept = imported.message, envelope(row, *KEPT)
        if kept:
            message = replace(message, envelope={**(message.envelope or {}), **kept})
        model, began = row["resolved_model"] or row["model"], from_iso(row["datetime_utc"])
        ended = began + (count(row, "duration_ms") or 0) * 1000 if began is not None else None
        return replace(imported, message=message, created_at=ended, model=model, usage=usage(row))
