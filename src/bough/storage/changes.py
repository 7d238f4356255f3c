"""The order of changes: a row for each, written in the transaction that makes it, and read from a cursor.

The number of a row is the cursor after it. Writers of a store, or of a namespace, come one after another, so numbers
are given in the order of the commits, and a reader that continues from the highest one it has seen misses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from bough.db import Database, Row
from bough.errors import CursorExpired
from bough.model import Change, ChangeKind
from bough.model.arguments import at_least
from bough.model.times import span

if TYPE_CHECKING:
    from bough.model.times import Span

T = TypeVar("T")

AfterCommit: TypeAlias = Callable[[list[Change]], object]
"""Hook of an application: it is called with the changes of a transaction, in their order, once they are durable."""
KEPT = 50_000
"""Changes that are kept when old ones are pruned."""
PRUNE_EVERY = 997
"""About one change in so many prunes, whether it has a transaction of its own or is one of thousands: see `prunes`."""
PRUNED = 5_000
"""Changes that are pruned at once, at most: several times as many as come in between, so that pruning keeps up."""
PAGE = 500
PAUSE = 0.04
"""Seconds between two looks. With the time of a commit and of a read it keeps a change within a tenth of a second."""
EVERYTHING = 2**62


def add(db: Database, kind: ChangeKind, now: int, session: int | None = None, message: int | None = None) -> None:
    """Records a change of a session and a message, by their numbers, while both are stored."""
    db.run("insert_change", now, kind, session, message)
    if prunes(now, session, message):
        db.run("prune_changes", KEPT, PRUNED)


def prunes(now: int, session: int | None, message: int | None) -> bool:
    """Whether a change prunes: by the time of its transaction and a number that its other changes do not have."""
    return (now + (message or session or 0)) % PRUNE_EVERY == 0


def newest(db: Database) -> int:
    """The cursor after the newest change; 0 in a store that never changed."""
    row = db.row("newest_change")
    assert row is not None
    return row[0] or 0


def after(db: Database, cursor: int | None, limit: int | None = None) -> list[Change]:
    """The changes after a cursor, or all that are kept. Raises `CursorExpired`."""
    check(cursor, limit)
    with db.reading():
        if cursor is not None:
            check_kept(db, cursor)
        rows = db.rows("changes", cursor or 0, EVERYTHING if limit is None else limit)
    return list(map(change, rows))


def change(row: Row) -> Change:
    cursor, at, kind, session, message = row
    return Change(cursor, kind, session, message, at)


def check(cursor: int | None, limit: int | None = None) -> None:
    """Raises `Invalid` for what is no cursor or no limit."""
    at_least("after, the cursor of a change,", cursor, 0)
    at_least("limit", limit, 0)


def check_kept(db: Database, cursor: int) -> None:
    """Raises `CursorExpired` unless every change after the cursor is kept."""
    row = db.row("kept_changes")
    assert row is not None
    first, last = row[0] or 1, row[1] or 0
    if first - 1 <= cursor <= last:
        return
    why = (
        f"The changes after {cursor} are not kept any more; the oldest is {first}"
        if cursor < first
        else f"{cursor} is no cursor of this store, whose newest change is {last}; it was restored, or is another one"
    )
    raise CursorExpired(f"{why}. Read again what you follow, and go on from `store.cursor()`, taken before that.")


def seconds(timeout: Span | None) -> float | None:
    """Raises `Invalid` for a negative timeout."""
    return None if timeout is None else span(timeout, "timeout") / 1_000_000


class Observed(Generic[T]):
    """Work in a transaction, and the changes that it made."""

    def __init__(self, db: Database, work: Callable[[int], T]) -> None:
        self.db = db
        self.work = work
        self.changes: list[Change] = []

    def __call__(self, now: int) -> T:
        before = newest(self.db)
        result = self.work(now)
        self.changes = list(map(change, self.db.rows("changes", before, EVERYTHING)))
        return result


def report(after_commit: AfterCommit, made: list[Change]) -> None:
    """Calls the hook of an application. What it raises is logged: the write that it is called for has succeeded."""
    if not made:
        return
    try:
        after_commit(made)
    except Exception:
        from logging import getLogger

        getLogger("bough").exception("after_commit failed; the changes that it was called for are stored.")


class Follower:
    """Reads the changes after a cursor as they come."""

    def __init__(self, db: Database, cursor: int) -> None:
        self.db = db
        self.cursor = cursor
        self._version: object = None
        """The version of the store up to which everything was read."""

    def poll(self) -> list[Change]:
        """What is new, a page at a time; empty when nothing is. Raises `CursorExpired` for one who was too slow."""
        version = self.db.version()
        if version == self._version:
            return []
        found = after(self.db, self.cursor, PAGE)
        if found:
            self.cursor = found[-1].cursor
        else:
            self._version = version  # it was taken first: what was committed meanwhile differs from it
        return found


def watch(follower: Follower, timeout: float | None) -> Iterator[Change]:
    """The changes that a follower finds, until there is none for `timeout` seconds."""
    last = time.monotonic()
    while True:
        if found := follower.poll():
            yield from found
            last = time.monotonic()
        elif timeout is not None and time.monotonic() - last >= timeout:
            return
        else:
            time.sleep(PAUSE)
