"""Nodes, and what a store reports about them: sessions, turns, search hits, trash entries, findings.

A time is in microseconds since 1970, UTC, in a field `…_at`; the property without `_at` is the same as a datetime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bough.model.blocks import Json
from bough.model.messages import Message, Role
from bough.model.times import moment
from bough.model.usage import Usage
from bough.model.values import value

if TYPE_CHECKING:
    from datetime import datetime

Kind: TypeAlias = Literal["message", "summary"]

ChangeKind: TypeAlias = Literal[
    "opened",  # a turn was opened or resumed; the message is its first one
    "added",  # messages were added; the message is the last of them
    "sketched",  # more of a reply has come that is still being written; the message is the first one of its turn
    "ended",  # a turn ended, as its status says; the message is its first one
    "compacted",  # a summary was added
    "moved",  # a session stands elsewhere; the message is where, None before the first
    "created",  # a session was made
    "updated",  # title, directory, agent, model or other data of a session, or the details of a turn
    "cleared",  # a session was emptied
    "labelled",  # a message got a label, or lost it
    "named",  # a message or a session got an external name
    "pinned",  # a message or a session was pinned, or is not any more
    "deleted",  # a session, or a message with what followed it
    "restored",  # out of the trash; the message is the first one
    "document",  # a document of a session was written or deleted
    "purged",  # the trash lost entries for good
    "imported",  # a conversation or an archive was imported
    "repaired",  # by verify
    "copied",  # another store was copied here
]
"""What a change did. Later versions may add kinds."""

UndoVerb: TypeAlias = Literal["move", "rewind", "pop", "compact", "new", "clear", "delete", "title", "label"]
"""What can be undone."""

Status: TypeAlias = Literal["running", "complete", "stopped", "interrupted", "failed"]

STATUSES: tuple[Status, ...] = get_args(Status)


@value
class Node:
    """A message in its place."""

    id: str
    parent_id: str | None
    created_at: int
    """Microseconds since 1970, UTC; always later than the parent's."""
    message: Message
    label: str | None = None
    turn_id: str | None = None
    """The id of the first message of the turn that added it; None outside any turn."""
    digest: bytes = b""
    """A hash of this message and of everything before it on its path."""
    kind: Kind = "message"
    covers: str | None = None
    """On a summary: the id of the last node that it speaks for."""
    weight: int = 0
    """Of the whole path up to here, in estimated tokens."""

    lazy = "message"
    """In a node that was loaded, it is decoded at its first use."""

    @property
    def role(self) -> Role:
        return self.message.role

    @property
    def created(self) -> datetime:
        """`created_at` as a datetime in UTC."""
        return moment(self.created_at)


@value
class Headline:
    """A message in an outline: its position and its first words."""

    id: str
    parent_id: str | None
    created_at: int
    role: Role
    words: str
    """At most a few hundred characters: the text, or a call, a result, the name of a picture."""
    label: str | None = None
    turn_id: str | None = None
    kind: Kind = "message"
    status: Status | None = None
    """How its turn ended; None outside any turn."""
    sessions: tuple[str, ...] = ()
    """The keys of the sessions that stand here, the one used last at the end."""

    @property
    def is_subagents(self) -> bool:
        """Whether a subagent's run added it."""
        return self.label is not None and self.label.startswith("subagent:")

    @property
    def created(self) -> datetime:
        """`created_at` as a datetime in UTC."""
        return moment(self.created_at)


@value
class TurnInfo:
    """The record of one turn: its position, how it ended, and how its replies came about."""

    id: str
    session: str | None
    """None when the session was deleted and its messages live on in others."""
    status: Status
    parent_id: str | None
    last_id: str
    usage: Usage = Usage()
    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    idempotency_key: str | None = None
    instructions_digest: bytes | None = None
    caller_id: str | None = None
    """The message that delegated this turn, and the call in it."""
    caller_call: str | None = None
    error: str | None = None
    metadata: Json = None
    started_at: int = 0
    first_token_at: int | None = None
    finished_at: int | None = None
    context_tokens: int | None = None
    """The size of the dialog after its last reply, as the provider counted it."""

    @property
    def started(self) -> datetime:
        """`started_at` as a datetime in UTC."""
        return moment(self.started_at)

    @property
    def first_token(self) -> datetime | None:
        """`first_token_at` as a datetime in UTC."""
        return moment(self.first_token_at)

    @property
    def finished(self) -> datetime | None:
        """`finished_at` as a datetime in UTC."""
        return moment(self.finished_at)


@value
class SessionInfo:
    """One row of the list of sessions."""

    key: str
    channel: str | None
    channel_id: str | None
    head_id: str | None
    revision: int
    """Counts the moves of the head."""
    directory: str | None = None
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    parent_key: str | None = None
    parent_message_id: str | None = None
    forked_from: str | None = None
    extra: Json = None
    created_at: int = 0
    updated_at: int = 0
    """When somebody last talked there; deleting, importing, renaming and the like do not count."""
    cursor: int = 0
    """Pass it as `before=` to continue a list after this session."""
    pinned_at: int | None = None
    """None for one that is not pinned."""
    expires_at: int | None = None
    """When `clean` may take it; None for never."""
    expires_after: int | None = None
    """Of one that expires a while after its last use: that while, in microseconds."""

    @property
    def created(self) -> datetime:
        """`created_at` as a datetime in UTC."""
        return moment(self.created_at)

    @property
    def updated(self) -> datetime:
        """`updated_at` as a datetime in UTC."""
        return moment(self.updated_at)

    @property
    def pinned(self) -> datetime | None:
        """`pinned_at` as a datetime in UTC."""
        return moment(self.pinned_at)

    @property
    def expires(self) -> datetime | None:
        """`expires_at` as a datetime in UTC."""
        return moment(self.expires_at)


@value
class ExternalName:
    """What others call a message or a session; nothing behind it when that was deleted."""

    kind: str
    value: str
    message_id: str | None = None
    session: str | None = None


@value
class Hit:
    """A message that a search found, with the words around the first match, and its session.

    That is the session that was searched, or, in a search of all, the one whose turn added the message.
    """

    node: Node
    snippet: str
    session: str | None = None
    path: tuple[str, ...] = ()
    """The ids from the root to the message, when `paths=True` was asked."""


@value
class TrashEntry:
    """What one deletion removed."""

    id: str
    deleted_at: int
    reason: str
    messages: int
    sessions: tuple[str, ...] = ()

    @property
    def deleted(self) -> datetime:
        """`deleted_at` as a datetime in UTC."""
        return moment(self.deleted_at)


@value
class Size:
    """How much a store holds. `subagent_runs` are the trees that subagents began, and count among the trees."""

    messages: int
    trees: int
    subagent_runs: int
    sessions: int
    turns: int
    trashed: int
    """Entries in the trash."""


@value
class Document:
    """Small JSON or bytes, kept with a session under a name."""

    name: str
    value: Json | bytes
    revision: int
    """Grows with each write: pass it to `put_document` to write only if nobody else has."""
    updated_at: int
    """Microseconds since 1970, UTC."""
    session: str | None = None
    """The key of its session."""


@value
class Pin:
    """A pinned message."""

    message_id: str
    pinned_at: int
    """Microseconds since 1970, UTC."""

    @property
    def pinned(self) -> datetime:
        """`pinned_at` as a datetime in UTC."""
        return moment(self.pinned_at)


@value
class Change:
    """One change of a store."""

    cursor: int
    """Its number in the order of changes: `store.changes(after=cursor)` goes on after it."""
    kind: ChangeKind
    session: str | None
    """The key that the session had."""
    message_id: str | None
    at: int
    """Microseconds since 1970, UTC."""


@value
class Undoable:
    """Something that was done and can be undone, unless what was done since would be lost."""

    cursor: int
    """The number of its change: `undo(cursor)` undoes this one."""
    verb: UndoVerb
    session: str | None
    """The key of the session; None for a deleted one, and for messages that no session added."""
    message_id: str | None
    """The message that was labelled, or the one where the session stood before."""
    at: int
    """Microseconds since 1970, UTC."""
    text: str
    """What was done, as a sentence."""


@value
class Finding:
    """One thing that `verify()` found wrong."""

    code: str
    subject: str
    detail: str
    repaired: bool = False
