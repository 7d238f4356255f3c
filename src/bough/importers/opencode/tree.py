"""A session of opencode: its messages one after another, wherever they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from bough.formats.payload import at, text_or_none
from bough.importers.common.timestamps import from_milliseconds
from bough.importers.opencode.messages import FAMILY, Record, read_messages, usage
from bough.model import Json, Message
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

NAME = FAMILY
UNFINISHED = "~"
"""Ends the name of a reply that is still being written: the whole one will be another message."""
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


class Whole(NamedTuple):
    """A message with its parts."""

    info: Record
    parts: list[Record]


Messages: TypeAlias = Callable[[], Iterable[Whole | Skipped]]
"""Reads the messages of a session, each time anew."""


class Spawn(NamedTuple):
    said: str
    call: str


def conversation(info: Record, messages: Messages, spawned: dict[str, Spawn]) -> Conversation:
    session = str(info.get("id"))
    parent = text_or_none(info.get("parent_id") or info.get("parentID"))
    spawn = spawned.get(session)
    rest = {key: value for key, value in info.items() if value is not None and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        session,
        _tell(messages(), spawned),
        head=_head(info.get("revert"), messages),
        title=text_or_none(info.get("title")),
        directory=text_or_none(info.get("directory")),
        model=text_or_none(at(info.get("model"), "id")),
        agent=text_or_none(info.get("agent")),
        parent=parent,
        parent_message=spawn.said if spawn and parent else None,
        parent_call=spawn.call if spawn and parent else None,
        created_at=from_milliseconds(info.get("time_created") or at(info, "time", "created")),
        updated_at=from_milliseconds(info.get("time_updated") or at(info, "time", "updated")),
        extra={NAME: rest} if rest else None,
    )


def _tell(messages: Iterable[Whole | Skipped], spawned: dict[str, Spawn]) -> Iterator[Item]:
    last: str | None = None
    for whole in messages:
        if isinstance(whole, Skipped):
            yield whole
            continue
        for said in _said(whole, last):
            last = said.id
            yield said
            _note_subagents(whole, said, spawned)


def _said(whole: Whole, parent: str | None) -> Iterator[ImportedMessage]:
    info, replied = whole.info, whole.info.get("role") == "assistant"
    created, completed = at(info, "time", "created"), at(info, "time", "completed")
    finished = not replied or completed is not None
    summary = replied and info.get("summary") is True and parent is not None
    for position, message in enumerate(read_messages(info, whole.parts)):
        spoken = replied and message.role == "assistant"
        kind = "summary" if summary and position == 0 else "message"
        name = f"{_name(info)}#{position}" if position else _name(info)
        yield ImportedMessage(
            name,
            # A summary begins what the model is told, as the user would.
            Message("user", message.blocks, message.error, message.envelope) if kind == "summary" else message,
            parent,
            from_milliseconds(completed or created) if spoken else from_milliseconds(created),
            kind=kind,  # type: ignore[arg-type]
            covers=parent if kind == "summary" else None,
            model=_model(info) if spoken else None,
            provider=text_or_none(info.get("providerID")) if spoken else None,
            usage=usage(info) if replied and position == 0 else None,
            finished=finished,
        )
        parent = name


def _name(info: Record) -> str:
    name = str(info.get("id"))
    ended = info.get("role") != "assistant" or at(info, "time", "completed") is not None
    return name if ended else name + UNFINISHED


def _model(info: Record) -> str | None:
    return text_or_none(info.get("modelID")) or text_or_none(at(info, "model", "modelID"))


def _head(revert: Json, messages: Messages) -> str | None:
    """Where a session stands after its end was taken back: before the first message that is hidden."""
    hidden = at(revert, "messageID")
    if not isinstance(hidden, str):
        return None
    before: str | None = None
    for item in _tell(messages(), {}):
        if isinstance(item, ImportedMessage):
            if item.id.rstrip(UNFINISHED) == hidden:
                return before
            before = item.id
    return None


def _note_subagents(whole: Whole, said: ImportedMessage, spawned: dict[str, Spawn]) -> None:
    calls = {call.call_id for call in said.message.calls}
    for part in whole.parts:
        child = at(part, "state", "metadata", "sessionId")
        if isinstance(child, str) and part.get("callID") in calls:
            spawned[child] = Spawn(said.id, part["callID"])
