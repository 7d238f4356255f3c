"""Conversations of other programs, as importers yield them and before a store has seen them.

An importer yields `Conversation`s. Each yields its messages (`ImportedMessage`), parents before children, under the ids
of the other program; whatever cannot be parsed comes in the same stream as a `Skipped`. `store.bring_in` turns them
into nodes, turns and sessions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from bough.model import Document, ExternalName, Json, Kind, Message, Node, Pin, ReplyInfo, SessionInfo, TurnInfo, Usage
from bough.model.values import value


@value
class ImportedMessage:
    """One message of another program's conversation."""

    id: str
    """Its id in the other program: the same on every reading, and unique within the source."""
    message: Message
    parent: str | None = None
    """The id of an earlier `ImportedMessage`, of this conversation or of a previous one; None for a root."""
    created_at: int | None = None
    """Microseconds since 1970, UTC; None if the file has no time."""
    label: str | None = None
    kind: Kind = "message"
    covers: str | None = None
    """Of a summary: the id of the last message that it replaces."""
    turn: str | None = None
    """Consecutive messages of a path with the same value are one turn. None: a turn begins with a user message, unless
    that follows another user message, and lasts until the next one begins."""
    model: str | None = None
    provider: str | None = None
    usage: Usage | None = None
    """Usage of this reply alone; a turn's usage is the sum over its messages."""
    request_id: str | None = None
    finished: bool = True
    """False for a reply that the other program marks as cut short; its turn is stored as interrupted."""


@value
class Skipped:
    """Input that was not understood: its place, the reason, and the content."""

    place: str
    """`file.jsonl:12`, or a table and a row."""
    reason: str
    raw: Json = None


Item: TypeAlias = ImportedMessage | Skipped


@value
class Head:
    """A session at one message of a conversation."""

    key: str
    """The key of the session; `store.bring_in` picks another one if it is in use."""
    at: str | None
    """The id of an `ImportedMessage`; None for the last one of the conversation."""
    title: str | None = None


@value
class Conversation:
    """One conversation of another program, with all its branches."""

    source: str
    """The importer's name: `claude-code`, `chatgpt`, …"""
    id: str
    """Its id in the other program."""
    items: Iterable[Item]
    """Read once, while it is stored: a conversation need not fit into memory."""
    key: str | None = None
    """The key of its session; None for `{source}:{id}`."""
    head: str | None = None
    """The id of the current `ImportedMessage`; None for the last one. Ends of other branches get no session."""
    heads: tuple[Head, ...] = ()
    """Further sessions of this conversation: forks, checkpoints, tangents."""
    title: str | None = None
    directory: str | None = None
    model: str | None = None
    agent: str | None = None
    parent: str | None = None
    """The id of the conversation (of the same source) that delegated this one."""
    parent_message: str | None = None
    """The id of the `ImportedMessage` with the delegating call."""
    parent_call: str | None = None
    """The id of that tool call."""
    created_at: int | None = None
    updated_at: int | None = None
    extra: Json = None
    """Other metadata from the file, stored with the session."""


Record: TypeAlias = Node | SessionInfo | ReplyInfo | TurnInfo | ExternalName | Pin | Document
"""One record of a store."""


@value
class Archive:
    """A bough export of a store or a part of one: messages, parents first, then sessions, then the rest."""

    place: str
    items: Iterable[Record | Skipped]
    """Read once, while they are stored."""


Outcome: TypeAlias = Literal["new", "grown", "known", "deleted", "empty"]


@value
class ImportResult:
    """Result of importing one conversation or archive."""

    status: Outcome
    """`deleted`: imported before and deleted here, so it was left alone. `empty`: it has no messages."""
    session: str | None
    """The key of its session."""
    elsewhere: str | None = None
    """The key of the second session that follows the other program, once the first was continued here."""
    added: int = 0
    known: int = 0
    skipped: tuple[Skipped, ...] = ()
    conversations: int = 1
    """More than one for an archive."""
    notes: tuple[str, ...] = ()
    """What else the user should know: messages that are kept under another id."""
