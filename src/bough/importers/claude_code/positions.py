"""Positions of Claude Code lines in the tree: which message each line follows."""

from __future__ import annotations

from typing import NamedTuple

from bough.importers.claude_code.records import Record
from bough.importers.common.position import Position
from bough.model import Json


class OpenReply(NamedTuple):
    """The newest reply with the results of its calls so far. Parallel calls have results that follow one another."""

    reply_id: str | None
    """The provider's id of the reply."""
    reply: Position
    message_ids: set[str]
    tail: Position


class Positions:
    """Finds parents. `known` is shared by the files of a project, which replay and continue one another."""

    def __init__(self, known: dict[str, Position]) -> None:
        self.last: Position | None = None
        self.open_reply: OpenReply | None = None
        self._known = known
        self._parents: dict[str, str] = {}

    def parent(self, record: Record) -> Position | None:
        """The parent of a line. If that is missing, or is the line itself, the line before."""
        if "parentUuid" not in record:
            return self.last
        uuid = record["parentUuid"] or record.get("logicalParentUuid")
        if uuid is None:
            return None
        found = self._known.get(uuid) if isinstance(uuid, str) and uuid != record.get("uuid") else None
        return self._after_results(found) if found else self.last

    def continues(self, reply_id: str | None) -> Position | None:
        """The parent for the rest of a reply whose first calls were answered before it was complete."""
        reply = self.open_reply
        return reply.tail if reply and reply_id and reply.reply_id == reply_id else None

    def before(self, uuid: Json) -> str | None:
        """The id of the message before the one of a line of this file."""
        position = self._known.get(uuid) if isinstance(uuid, str) else None
        return self._parents.get(position.message_id) if position else None

    def put(self, uuid: str, position: Position) -> None:
        """Remembers the position of a line."""
        self._known[uuid] = position

    def skip(self, record: Record) -> None:
        """Gives a line without a message the position of its parent, for its children."""
        uuid, parent = record.get("uuid"), self.parent(record)
        # File snapshots reuse the uuids of messages: a uuid that is known keeps its position.
        if parent and isinstance(uuid, str) and uuid not in self._known:
            self._known[uuid] = parent

    def add(self, uuid: str, position: Position, parent: Position | None) -> None:
        """Remembers a new message."""
        self.last = self._known[uuid] = position
        if parent:
            self._parents[position.message_id] = parent.message_id
        reply = self.open_reply
        if reply and parent and position.role == "tool_result" and parent.message_id in reply.message_ids:
            reply.message_ids.add(position.message_id)
            self.open_reply = reply._replace(tail=position)

    def open(self, reply_id: str | None, reply: Position) -> None:
        """Remembers a reply as the newest one."""
        self.open_reply = OpenReply(reply_id, reply, {reply.message_id}, reply)

    def _after_results(self, parent: Position) -> Position:
        """The last result of the newest reply, if the parent is that reply or one of its results."""
        reply = self.open_reply
        return reply.tail if reply and parent.message_id in reply.message_ids else parent
