"""The one way into the store: `prepare` turns messages into entries, and `insert` stores entries as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from bough.codec import column, json_list
from bough.codec.digest import link
from bough.codec.encode import Blob, Draft, draft
from bough.db import Database, Row
from bough.errors import Invalid, NotFound
from bough.model import Message, ids
from bough.model.values import lazy_maker, mutable, value
from bough.storage.blobs import hold

BeforeSave: TypeAlias = Callable[[Message], Message]
"""Hook of an application: the message to store in place of the one that it is given, or an exception to refuse it."""


@mutable
class Entry:
    """A message that is about to be stored, and its position. Only `prepare` makes one."""

    message: Message
    draft: Draft
    parent: int | None = None
    """The number of a stored message,"""
    after: int | None = None
    """or the index of an earlier entry of the same list."""
    label: str | None = None
    created_at: int | None = None
    kind: str = "message"
    covers: int | None = None
    turn: int | None = None
    """The number of its turn, where the entries of one list belong to several."""
    id: str | None = None
    """The id that it gets if that is free; None for any."""

    lazy = "draft"


@value
class Saved:
    """The numbers and ids of messages that were stored together. Their numbers are consecutive."""

    first: int
    """The number of the first one."""
    ids: list[str]

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.first + len(self.ids) - 1


def prepare(messages: Iterable[Message], label: str | None = None, *, lazy: bool = False) -> list[Entry]:
    """Messages, hashed and compressed, as a chain of entries. Raises `Invalid` for what cannot be stored.

    Every message passes here, through `Store.prepare`, and before it the hook of the application, `admit`.
    With `lazy` each draft is made at its first use, which saves the work for messages that turn out to be stored.
    """
    if lazy:
        new = lazy_maker(Entry)
        return [
            new(Entry, message, (draft, message), None, index - 1 if index else None, label)
            for index, message in enumerate(messages)
        ]
    return [
        Entry(message, draft(message), None, index - 1 if index else None, label)
        for index, message in enumerate(messages)
    ]


def admit(message: Message, before_save: BeforeSave | None) -> Message:
    """The message that is stored in place of this one. Raises what the hook raises, `Refused` above all."""
    if before_save is None or not isinstance(message, Message):  # `draft` refuses what is no message
        return message
    admitted = before_save(message)
    if not isinstance(admitted, Message):
        raise Invalid(
            f"before_save returned {admitted!r:.80}; it returns the message, changed or not, or raises Refused. "
            "Nothing was saved."
        )
    return admitted


def ids_for(entries: Sequence[Entry]) -> list[str]:
    """The ids that entries should have; an entry without one gets a random id."""
    if nameless := [entry for entry in entries if entry.id is None]:
        for entry, minted in zip(nameless, ids.mint_many(len(nameless), ids.LENGTH), strict=True):
            entry.id = minted
    return [entry.id or "" for entry in entries]


Inherited: TypeAlias = tuple[bytes, int, int, int | None]
"""What a node passes to its children: its digest, its time, the tokens up to it, the newest summary on its path."""
ROOT: Inherited = b"", 0, 0, None
"""What a message without a parent starts from."""


@value
class InsertPoint:
    """Where the next message goes: its number is the highest in use plus one."""

    highest: int
    taken: int
    """How many of the ids that were asked for are in use."""
    inherited: Inherited


def insert(
    db: Database, entries: Sequence[Entry], now: int, turn: int | None = None, point: InsertPoint | None = None
) -> Saved:
    """Stores the entries, of which there is at least one.

    `turn` is the number of their turn; with 0 the first entry opens one. `point` is that of the first entry, if the
    caller has just read it together with `ids_for` all entries.
    """
    wanted = ids_for(entries)
    if point is None:
        point = insert_point(db, entries[0].parent, wanted)
    if point.taken or len(set(wanted)) < len(wanted):
        wanted = _free_ids(db, wanted)
    inherited, first = {entries[0].parent: point.inherited}, point.highest + 1
    turn = first if turn == 0 else turn
    messages: list[Row] = []
    blocks: list[Row] = []
    blobs: list[Blob] = []
    for entry in entries:
        blobs += entry.draft.blobs
    stored = hold(db, blobs) if blobs else {}
    for order, entry in enumerate(entries):
        n, d = first + order, entry.draft
        parent = entry.parent if entry.after is None else first + entry.after
        if parent not in inherited:
            inherited[parent] = insert_point(db, parent).inherited
        inherited[n] = digest, made, weight, summary = _passed_on(inherited[parent], entry, n, now + order)
        block, further = d.with_blob_numbers(stored) if d.blobs else (d.first, d.further)
        messages.append((
            n, wanted[order], parent, len(further), entry.turn or turn, d.role,
            None if entry.kind == "message" else entry.kind, entry.covers, summary, weight,
            entry.label and column(entry.label), d.error, digest, d.envelope, made, *block,
        ))  # fmt: skip
        if further:
            blocks += [(n, *row) for row in further]
    db.run_many("insert_message", messages)
    if blocks:
        db.run_many("insert_block", blocks)
    return Saved(first, wanted)


def _passed_on(parent: Inherited, entry: Entry, n: int, now: int) -> Inherited:
    """What an entry passes to its children. Its time is later than the parent's even when the clock went back."""
    digest, time, weight, summary = parent
    made = now if entry.created_at is None else min(entry.created_at, now)
    return (
        link(digest, entry.draft.digest_input),
        made if made > time else time + 1,
        weight + (entry.draft.weight if entry.kind == "message" else 0),
        n if entry.kind == "summary" else summary,
    )


def _free_ids(db: Database, wanted: Sequence[str]) -> list[str]:
    """The wanted ids, with random ones in place of those that are taken or repeated."""
    free = dict.fromkeys(wanted).keys() - taken(db, wanted)
    others = iter(ids.mint_free(len(wanted), lambda minted: taken(db, minted) | free.intersection(minted)))
    found = []
    for id in wanted:
        found.append(id if id in free else next(others))
        free -= {id}
    return found


def next_number(db: Database) -> int:
    """The number that the next message gets."""
    return insert_point(db, None).highest + 1


def taken(db: Database, wanted: Sequence[str]) -> set[str]:
    """Those of some ids that are in use, or in the trash."""
    return {id for (id,) in db.rows("taken", json_list(wanted))}


def insert_point(db: Database, parent: int | None, wanted: Sequence[str] = ()) -> InsertPoint:
    """The insert point below a stored message, or for a root. Raises `NotFound`."""
    row = db.row("ground", parent, json_list(wanted))
    assert row is not None
    return insert_point_of(parent, row)


def insert_point_of(parent: int | None, row: Row) -> InsertPoint:
    """The insert point in a row of `ground`, or in the last columns of `session_state`."""
    highest, taken, digest, time, weight, summary = row
    if parent is None:
        return InsertPoint(highest, taken, ROOT)
    if digest is None:
        raise NotFound("The message to continue from was deleted in the meantime; nothing was saved.")
    return InsertPoint(highest, taken, (digest, time, weight, summary))
