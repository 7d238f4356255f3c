"""The save path: messages become rows, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough import ids
from bough.codec import Blob, Draft, column, draft, json_list
from bough.db import Database
from bough.digest import digest
from bough.errors import NotFound
from bough.model import Message
from bough.values import value, workpiece


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


@value
class Saved:
    n: int
    id: str


def one_after_another(messages: Iterable[Message], label: str | None = None) -> list[Entry]:
    """Entries that form a chain; `insert` is told what the first one follows."""
    return [
        Entry(message, draft(message), after=place - 1 if place else None, label=label)
        for place, message in enumerate(messages)
    ]


@value
class Ground:
    """What a node stands on: what it takes over from its parent."""

    digest: bytes = b""
    time: int = 0
    weight: int = 0
    summary: int | None = None

    def under(self, entry: Entry, n: int, now: int) -> Ground:
        """The ground of a child. Its time is later than the parent's, whatever the clock says."""
        time = now if entry.created_at is None else min(entry.created_at, now)
        return Ground(
            digest(entry.message, self.digest),
            max(time, self.time + 1),
            self.weight + entry.draft.weight,
            n if entry.kind == "summary" else self.summary,
        )


def insert(db: Database, entries: Sequence[Entry], now: int, turn: int | None = None) -> list[Saved]:
    """Stores the entries and says under which names. `turn` is a turn's number; with 0 the first entry opens one."""
    if not entries:
        return []
    first = _next_number(db)
    names = ids.mint_free(len(entries), lambda wanted: taken(db, wanted))
    turn = first if turn == 0 else turn
    grounds: list[Ground] = []
    messages, blocks = [], []
    for place, entry in enumerate(entries):
        n, d = first + place, entry.draft
        parent = entry.parent if entry.after is None else first + entry.after
        below = _ground(db, parent) if entry.after is None else grounds[entry.after]
        ground = below.under(entry, n, now + place)
        grounds.append(ground)
        kind = None if entry.kind == "message" else entry.kind
        messages.append((
            n, names[place], parent, turn, d.role, kind, entry.covers, ground.summary, ground.weight,
            column(entry.label), d.error, ground.digest, d.envelope, ground.time,
        ))  # fmt: skip
        for block in d.blocks:
            held = None if block[9] is None else hold(db, block[9])
            blocks.append((n, *block[:9], held, *block[10:]))
    db.run_many("insert_message", messages)
    db.run_many("insert_block", blocks)
    return [Saved(first + place, name) for place, name in enumerate(names)]


def hold(db: Database, blob: Blob) -> int:
    """The number of a blob that is stored now, or was before."""
    if row := db.row("hold_blob", blob.digest):
        return int(row[0])
    row = db.row("insert_blob", blob.digest, blob.size, blob.encoding)
    assert row is not None
    db.run("insert_blob_bytes", row[0], blob.bytes)
    return int(row[0])


def _next_number(db: Database) -> int:
    row = db.row("highest")
    assert row is not None
    return int(row[0]) + 1


def taken(db: Database, wanted: list[str]) -> set[str]:
    return {row[0] for row in db.rows("taken", json_list(wanted))}


def _ground(db: Database, n: int | None) -> Ground:
    """What a stored message gives to its children."""
    if n is None:
        return Ground()
    row = db.row("step", n)
    if row is None:
        raise NotFound("The message to continue from was deleted in the meantime; nothing was saved.")
    return Ground(row[2], *row[5:])
