"""Build the path of an opencode session, from the database or from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from bough.formats.payload import at, text_or_none
from bough.importers.common.position import Spawn
from bough.importers.common.timestamps import from_milliseconds
from bough.importers.opencode.messages import FAMILY, Record, read_messages, usage
from bough.model import Json, Message
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

NAME = FAMILY
UNFINISHED = "~"
"""Suffix of the id of an unfinished reply: the whole one will be another message."""
KEPT_ELSEWHERE = {
    "id",
    "title",
    "directory",
    "parent_id",
    "parentID",
    "model",
    "agent",
    "time",
    "time_created",
    "time_updated",
}


class MessageParts(NamedTuple):
    """A message with its parts."""

    info: Record
    parts: list[Record]


Messages: TypeAlias = Callable[[], Iterable[MessageParts | Skipped]]
"""Reads the messages of a session; may be called more than once."""


def conversation(info: Record, messages: Messages, spawned: dict[str, Spawn]) -> Conversation:
    session = str(info.get("id"))
    parent = text_or_none(info.get("parent_id") or info.get("parentID"))
    spawn = spawned.get(session)
    rest = {key: value for key, value in info.items() if value is not None and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        session,
        _items(messages(), spawned),
        head=_head(info.get("revert"), messages),
        title=text_or_none(info.get("title")),
        directory=text_or_none(info.get("directory")),
        model=text_or_none(at(info.get("model"), "id")),
        agent=text_or_none(info.get("agent")),
        parent=parent,
        parent_message=spawn.message_id if spawn and parent else None,
        parent_call=spawn.call_id if spawn and parent else None,
        created_at=from_milliseconds(info.get("time_created") or at(info, "time", "created")),
        updated_at=from_milliseconds(info.get("time_updated") or at(info, "time", "updated")),
        extra={NAME: rest} if rest else None,
    )


def _items(messages: Iterable[MessageParts | Skipped], spawned: dict[str, Spawn]) -> Iterator[Item]:
    last: str | None = None
    for stored in messages:
        if isinstance(stored, Skipped):
            yield stored
            continue
        for imported in _messages(stored, last):
            last = imported.id
            yield imported
            _note_subagents(stored, imported, spawned)


def _messages(stored: MessageParts, parent: str | None) -> Iterator[ImportedMessage]:
    info, replied = stored.info, stored.info.get("role") == "assistant"
    created, completed = at(info, "time", "created"), at(info, "time", "completed")
    finished = not replied or completed is not None
    summary = replied and info.get("summary") is True and parent is not None
    for number, message in enumerate(read_messages(info, stored.parts)):
        is_reply = replied and message.role == "assistant"
        kind = "summary" if summary and number == 0 else "message"
        id = f"{_message_id(info)}#{number}" if number else _message_id(info)
        yield ImportedMessage(
            id,
            # A summary begins the context of the model, so it has to be a user message.
            Message("user", message.blocks, message.error, message.envelope) if kind == "summary" else message,
            parent,
            from_milliseconds(completed or created) if is_reply else from_milliseconds(created),
            kind=kind,  # type: ignore[arg-type]
            covers=parent if kind == "summary" else None,
            model=_model(info) if is_reply else None,
            provider=text_or_none(info.get("providerID")) if is_reply else None,
            usage=usage(info) if replied and number == 0 else None,
            finished=finished,
        )
        parent = id


def _message_id(info: Record) -> str:
    id = str(info.get("id"))
    ended = info.get("role") != "assistant" or at(info, "time", "completed") is not None
    return id if ended else id + UNFINISHED


def _model(info: Record) -> str | None:
    return text_or_none(info.get("modelID")) or text_or_none(at(info, "model", "modelID"))


def _head(revert: Json, messages: Messages) -> str | None:
    """The head of a session after a revert: the message before the first reverted one."""
    hidden = at(revert, "messageID")
    if not isinstance(hidden, str):
        return None
    before: str | None = None
    for item in _items(messages(), {}):
        if isinstance(item, ImportedMessage):
            if item.id.rstrip(UNFINISHED) == hidden:
                return before
            before = item.id
    return None


def _note_subagents(stored: MessageParts, imported: ImportedMessage, spawned: dict[str, Spawn]) -> None:
    calls = {call.call_id for call in imported.message.calls}
    for part in stored.parts:
        child = at(part, "state", "metadata", "sessionId")
        if isinstance(child, str) and part.get("callID") in calls:
            spawned[child] = Spawn(imported.id, part["callID"])
