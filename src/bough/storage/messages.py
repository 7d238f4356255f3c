"""The save path: messages become rows, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from bough.codec import column, json_list
from bough.codec.digest import link
from bough.codec.encode import Blob, Draft, draft
from bough.db import Database, Row
from bough.errors import NotFound
from bough.model import Message, ids
from bough.model.values import late_maker, value, workpiece
from bough.storage.blobs import hold


@workpiece
class Entry:
    """A message that is about to be saved, and where it will stand."""

    message: Message
    draft: Draft
    parent: int | None = None
    """The number of a stored message,"""
    after: int | None = None
    """or the place of an earlier entry of the same list."""
    label: str | None = None
    created_at: int | None = None
    kind: str = "message"
    covers: int | None = None
    turn: int | None = None
    """The number of its turn, where the entries of one list belong to several."""
    name: str | None = None
    """The id that it should have, if that is free; None for any."""

    late = "draft"


@value
class Saved:
    """What messages that were stored together are called. Their numbers follow one another."""

    first: int
    """The number of the first one."""
    ids: list[str]

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.first + len(self.ids) - 1


def one_after_another(messages: Sequence[Message], label: str | None = None) -> list[Entry]:
    """Entries that form a chain; `insert` is told what the first one follows."""
    names = iter(ids.mint_many(len(messages), ids.LENGTH))  # now, while nobody waits for the lock
    return [
        Entry(message, draft(message), None, place - 1 if place else None, label, name=next(names))
        for place, message in enumerate(messages)
    ]


def drafted_late(messages: Iterable[Message], label: str | None = None) -> list[Entry]:
    """The same, but what each message becomes is worked out when it is needed, which it is not for what is stored."""
    new = late_maker(Entry)
    return [
        new(Entry, message, (draft, message), after=place - 1 if place else None, label=label)
        for place, message in enumerate(messages)
    ]


_name: Callable[[Entry], Any] = attrgetter("name")


def names_for(entries: Sequence[Entry]) -> list[str]:
    """The ids that entries should have. Those that do not care are given random ones."""
    names = list(map(_name, entries))
    if None in names:
        nameless = [entry for entry in entries if entry.name is None]
        for entry, name in zip(nameless, ids.mint_many(len(nameless), ids.LENGTH), strict=True):
            entry.name = name
        return names_for(entries)
    return names


Ground: TypeAlias = tuple[bytes, int, int, int | None]
"""What a node gives its children: its digest, its time, the tokens up to it, the summary that covers what is before."""
BARE: Ground = b"", 0, 0, None
"""What a root stands on."""


@value
class Place:
    """Where the next message stands: after the highest number in use, on the ground of its parent."""

    highest: int
    taken: int
    """How many of the names that were asked for are not free."""
    ground: Ground


def insert(
    db: Database, entries: Sequence[Entry], now: int, turn: int | None = None, place: Place | None = None
) -> Saved:
    """Stores the entries, of which there is at least one, and says under which names.

    `turn` is a turn's number; with 0 the first entry opens one. `place` is that of the first entry, if the caller has
    just read it together with `names_for` them all.
    """
    names = names_for(entries)
    if place is None:
        place = find_place(db, entries[0].parent, names)
    if place.taken or len(set(names)) < len(names):
        names = _free_names(db, names)
    grounds, first = {entries[0].parent: place.ground}, place.highest + 1
    turn = first if turn == 0 else turn
    messages: list[Row] = []
    blocks: list[Row] = []
    blobs: list[Blob] = []
    for entry in entries:
        blobs += entry.draft.blobs
    held = hold(db, blobs) if blobs else {}
    for order, entry in enumerate(entries):
        n, d = first + order, entry.draft
        parent = entry.parent if entry.after is None else first + entry.after
        if parent not in grounds:
            grounds[parent] = find_place(db, parent).ground
        grounds[n] = digest, made, weight, summary = _ground(grounds[parent], entry, n, now + order)
        block, further = d.holding(held) if d.blobs else (d.first, d.further)
        messages.append((
            n, names[order], parent, len(further), entry.turn or turn, d.role,
            None if entry.kind == "message" else entry.kind, entry.covers, summary, weight,
            entry.label and column(entry.label), d.error, digest, d.envelope, made, *block,
        ))  # fmt: skip
        if further:
            blocks += [(n, *row) for row in further]
    db.run_many("insert_message", messages)
    if blocks:
        db.run_many("insert_block", blocks)
    return Saved(first, names)


def _ground(parent: Ground, entry: Entry, n: int, now: int) -> Ground:
    """What an entry gives its children. Its time is later than the parent's, whatever the clock says."""
    digest, time, weight, summary = parent
    made = now if entry.created_at is None else min(entry.created_at, now)
    return (
        link(digest, entry.draft.said),
        made if made > time else time + 1,
        weight + entry.draft.weight,
        n if entry.kind == "summary" else summary,
    )


def _free_names(db: Database, wanted: Sequence[str]) -> list[str]:
    """The names that are wanted, with others in the place of those that are taken or wanted twice."""
    free = dict.fromkeys(wanted).keys() - taken(db, wanted)
    others = iter(ids.mint_free(len(wanted), lambda minted: taken(db, minted) | free.intersection(minted)))
    names = []
    for name in wanted:
        names.append(name if name in free else next(others))
        free -= {name}
    return names


def next_number(db: Database) -> int:
    """The number that the next message gets; the ones after it follow."""
    return find_place(db, None).highest + 1


def taken(db: Database, wanted: Sequence[str]) -> set[str]:
    return {name for (name,) in db.rows("taken", json_list(wanted))}


def find_place(db: Database, parent: int | None, names: Sequence[str] = ()) -> Place:
    """Where a message stands that follows a stored one, or begins a tree. Raises `NotFound`."""
    row = db.row("ground", parent, json_list(names))
    assert row is not None
    return place_of(parent, row)


def place_of(parent: int | None, row: Row) -> Place:
    """The place that a row tells: the highest number, the names that are taken, what the parent gives its children."""
    highest, taken, digest, time, weight, summary = row
    if parent is None:
        return Place(highest, taken, BARE)
    if digest is None:
        raise NotFound("The message to continue from was deleted in the meantime; nothing was saved.")
    return Place(highest, taken, (digest, time, weight, summary))
