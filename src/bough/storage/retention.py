"""Removes idle sessions, and old entries of the trash, in bounded transactions.

What will be removed is worked out first, by reading. Each transaction checks again what it removes, so that others may
write in between, and a run that was broken off is continued by the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from bough.codec import json_list
from bough.db import Database, Value
from bough.model import SessionInfo
from bough.model.values import value
from bough.storage import changes, leases, lookup, pins, search, sessions, trash
from bough.storage.rows import TrashContent

T = TypeVar("T")

PAGE = 50
"""Sessions, or entries of the trash, of one transaction at most,"""
MESSAGES = 1000
"""which ends after the one that makes it so many messages."""
MERGED = 200
"""Pages of the search index that one transaction merges, about."""
BEFORE_ALL = -(2**62)


class Transact(Protocol):
    """`Store.write`."""

    def __call__(self, work: Callable[[int], T]) -> T: ...


@value
class Idle:
    """Which sessions are idle: last used before a time, or expired at another one; of one channel."""

    before: int | None
    channel: str | None
    now: int

    @property
    def columns(self) -> tuple[Value, ...]:
        return BEFORE_ALL if self.before is None else self.before, self.channel, self.now


def idle_sessions(db: Database, idle: Idle) -> Iterator[SessionInfo]:
    """The idle sessions that may be removed, those unused for longest first. One page is in memory at a time."""
    last = BEFORE_ALL
    while page := _page(db, idle, last):
        for activity, info in page:
            last = activity
            if info is not None:
                yield info


def clean(db: Database, write: Transact, idle: Idle) -> list[SessionInfo]:
    """Moves idle sessions to the trash; those that were removed, with the delegates that went with them."""
    left = iter(list(idle_sessions(db, idle)))
    removed: list[SessionInfo] = []
    while batch := list(islice(left, PAGE)):
        while batch:
            done, gone = write(lambda now, batch=batch: _delete(db, batch, idle, now))  # type: ignore[misc]
            removed += gone
            batch = batch[done:]
    return removed


def purge(db: Database, write: Transact, before: int) -> int:
    """Removes entries of the trash for good that were made before a time; their number."""
    count = 0
    while done := write(lambda now: _purge_some(db, before, now)):
        count += done
    if not db.index_has_keys:
        _merge_index(db, write)
    return count


def _page(db: Database, idle: Idle, last: int) -> list[tuple[int, SessionInfo | None]]:
    """A page of the sessions that are idle, by their activity; None for one that is kept."""
    with db.reading():
        rows = db.rows("idle_sessions", *idle.columns, last, PAGE)
        return [(activity, None if _is_kept(db, key, idle.now) else sessions.find(db, key)) for activity, key in rows]


def _delete(db: Database, batch: Iterable[SessionInfo], idle: Idle, now: int) -> tuple[int, list[SessionInfo]]:
    """Deletes sessions that are still idle; how many were looked at, and those that are gone."""
    looked, messages, gone = 0, 0, []
    for info in batch:
        looked += 1
        if lookup.session_number(db, info.key) is None:
            gone.append(info)  # with the session it worked for
        elif db.row("is_idle", *idle.columns, info.key) and not _is_kept(db, info.key, now):
            messages += sessions.delete(db, info.key, now, keep=True)
            gone.append(info)
        if messages >= MESSAGES:
            break
    return looked, gone


def _is_kept(db: Database, key: str, now: int) -> bool:
    """Whether a session or a delegate of it is in a turn or pinned, or a pinned message would go with them."""
    members = sessions.family(db, key)
    if any(leases.is_leased(member, now) for member in members):
        return True
    if db.row("pinned_session", json_list(member.n for member in members)):
        return True
    return bool(db.row("pins") and pins.pinned_among(db, sessions.reached_only_by(db, members)))


def _purge_some(db: Database, before: int, now: int) -> int:
    """Removes some of the oldest entries; how many."""
    count = messages = 0
    for n, size in db.rows("old_trash", before, PAGE):
        (row,) = db.rows("trash_by_number", n)
        trash.forget(db, TrashContent(*row))
        count, messages = count + 1, messages + size
        if messages >= MESSAGES:
            break
    if count:
        changes.add(db, "purged", now)
    return count


def _merge_index(db: Database, write: Transact) -> None:
    """Merges the search index, which removes the words of deleted messages from its pages."""
    merge = -MERGED  # a merge of all pages begins with a negative number, and goes on with positive ones
    while write(lambda _, merge=merge: search.merge_some(db, merge)):  # type: ignore[misc]
        merge = MERGED
