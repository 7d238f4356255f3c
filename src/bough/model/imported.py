"""What happened elsewhere: conversations as importers tell them, before any store has seen them.

An importer yields `Conversation`s. Each has its own messages (`Said`), parents before children, under the ids that the
other program gave them; what could not be understood is yielded in the same stream as a `Skipped`. `store.bring_in`
makes nodes, turns and sessions of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from bough.model import ExternalName, Json, Kind, Message, Node, SessionInfo, Status, TurnInfo, Usage
from bough.model.values import value


@value
class Said:
    """One message of a conversation that happened elsewhere."""

    id: str
    """What the other program calls it; the same on every reading, and unique among all that its source tells."""
    message: Message
    parent: str | None = None
    """The id of an earlier `Said`, of this conversation or of one that was told before; None begins a tree."""
    created_at: int | None = None
    """Microseconds since 1970, UTC; None when the file does not say."""
    label: str | None = None
    kind: Kind = "message"
    covers: str | None = None
    """Of a summary: the id of the last message that it speaks for."""
    turn: str | None = None
    """Messages with the same word here, one after another on a path, are one turn. None: a turn begins with a user
    message that follows anything but another one, and goes on up to the next."""
    model: str | None = None
    provider: str | None = None
    usage: Usage | None = None
    """What this one reply cost; a turn's usage is the sum of its messages'."""
    request_id: str | None = None
    finished: bool = True
    """False for a reply that the other program says was cut short; its turn is kept as interrupted."""


@value
class Skipped:
    """Something that was not understood: where it stands, why, and what it says."""

    place: str
    """`file.jsonl:12`, or a table and a row."""
    reason: str
    raw: Json = None


Item: TypeAlias = Said | Skipped


@value
class Head:
    """A name for a message of a conversation: the session that stands there."""

    key: str
    """The key of the session; `store.bring_in` makes another one of it when that is taken by something else."""
    at: str | None
    """The id of a `Said`; None for the last one that was told."""
    title: str | None = None
    status: Status = "complete"


@value
class Conversation:
    """One conversation of another program, with all its branches."""

    source: str
    """The importer's name: `claude-code`, `chatgpt`, …"""
    id: str
    """What the other program calls it."""
    items: Iterable[Item]
    """Read once, as they are stored: a conversation need not fit into memory."""
    key: str | None = None
    """The key of its session; None for `{source}:{id}`."""
    head: str | None = None
    """The id of the `Said` where it stands; None for the last one told. The ends of other branches get no session."""
    heads: tuple[Head, ...] = ()
    """Further sessions that stand in this conversation: forks, checkpoints, tangents."""
    title: str | None = None
    directory: str | None = None
    model: str | None = None
    agent: str | None = None
    parent: str | None = None
    """The id of the conversation (of the same source) that delegated this one,"""
    parent_message: str | None = None
    """the id of the `Said` that did,"""
    parent_call: str | None = None
    """and the tool call in it."""
    created_at: int | None = None
    updated_at: int | None = None
    extra: Json = None
    """What else the file knows of it, kept on the session."""


Record: TypeAlias = Node | SessionInfo | TurnInfo | ExternalName
"""What a store is made of."""


@value
class Archive:
    """A store, or a part of one, as bough exports it: messages, parents first, then sessions, then the rest."""

    place: str
    items: Iterable[Record | Skipped]
    """Read once, as they are stored."""


Outcome: TypeAlias = Literal["new", "grown", "known", "deleted", "empty"]


@value
class Brought:
    """What became of a conversation that a store was told."""

    status: Outcome
    """`deleted`: it was brought in before and deleted here, so it was left alone. `empty`: it has no messages."""
    session: str | None
    """The key of its session,"""
    elsewhere: str | None = None
    """and of the one that follows the other program, once the session was continued here."""
    added: int = 0
    known: int = 0
    skipped: tuple[Skipped, ...] = ()
    conversations: int = 1
    """An archive holds several."""
