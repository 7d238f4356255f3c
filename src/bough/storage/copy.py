"""Copies a store into another one, of any engine: the same rows, under the same numbers and names.

A copy can be broken off and begun again, and begun again while the source is written to: every run compares both
sides, page by page, and carries over what differs. The target must be empty, or an earlier copy that nobody else has
written to. Blobs may have other numbers there; they are recognised by their digests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

from bough.codec import json_list
from bough.db import Database, Row
from bough.db.rows import (
    BlockRow,
    DirectoryRow,
    DocumentRow,
    ExternalRow,
    MessageRow,
    PinRow,
    ReplyRow,
    SessionRow,
    TurnRow,
)
from bough.errors import Corrupt, Refused
from bough.model.values import mutable, value
from bough.protocols import Progress
from bough.storage import blobs, search, trash
from bough.storage.messages import next_number
from bough.storage.rows import TrashContent
from bough.storage.trash_payload import unpack

PAGE = 500

T = TypeVar("T")
Pair: TypeAlias = tuple[Any, Any]
"""The row of the source and the row of the target that have the same key; None for one that is missing."""


class MessageEntry(NamedTuple):
    """A row of `message_page`."""

    n: int
    id: str
    digest: bytes
    label: str | None


class TrashPageRow(NamedTuple):
    """A row of `trash_page`."""

    id: str
    n: int
    deleted_at: int
    reason: str
    messages: int


@value
class Table:
    """How a table is read in pages."""

    statement: str
    row: Callable[[Iterable[Any]], Any]
    key: int = 1
    """The number of columns at the beginning of a row that are its key."""
    before: tuple[int | str, ...] = (0,)
    """A key that is less than every other."""


MESSAGES = Table("message_page", MessageEntry._make)
SESSIONS, TURNS = Table("session_page", SessionRow._make), Table("turn_page", TurnRow._make)
REPLIES = Table("reply_page", ReplyRow._make)
DIRECTORIES = Table("directory_page", DirectoryRow._make, 1, ("",))
DOCUMENTS = Table("document_page", DocumentRow._make, 2, (0, ""))
PINS = Table("pin_page", PinRow._make)
EXTERNALS = Table("external_page", ExternalRow._make, 2, ("", ""))
TRASH = Table("trash_page", TrashPageRow._make, 1, ("",))


@mutable
class Copied:
    """Counts of what a copy carried over, and of the messages that it removed because the source has them no more."""

    messages: int = 0
    bytes: int = 0
    sessions: int = 0
    turns: int = 0
    removed: int = 0


def copy(source: Database, target: Database, now: int, progress: Progress | None = None) -> Copied:
    """Makes the target equal to the source. Raises `Refused`, before it writes, for a target with its own history."""
    done = Copied()
    with source.reading():
        gone = _gone(source, target)
        if gone:
            target.transact(lambda: _remove(source, target, gone, now))
        done.removed = len(gone)
        _messages(source, target, done, progress)
        done.turns = _rows(source, target, TURNS, "delete_turn", "insert_turn")
        _rows(source, target, REPLIES, "delete_reply", "insert_reply")
        _rows(source, target, EXTERNALS, "delete_external", "insert_external")
        _rows(source, target, DIRECTORIES, "delete_directory", "insert_directory")
        _rows(source, target, DOCUMENTS, "delete_document", "insert_document")
        _rows(source, target, PINS, "delete_pin", "insert_pin")
        done.sessions = target.transact(lambda: _sessions(source, target))
        _trash(source, target)
        _compare(source, target)
    return done


# Comparing ----------------------------------------------------------------------------------------------------------


def rows(db: Database, table: Table) -> Iterator[Any]:
    """All rows of a table, in the order of its key; one page is in memory at a time."""
    last: tuple[Any, ...] = table.before
    while page := db.rows(table.statement, *last, PAGE):
        yield from map(table.row, page)
        last = page[-1][: table.key]


def pairs(source: Database, target: Database, table: Table) -> Iterator[Pair]:
    """The rows of both stores, those with the same key together."""
    theirs, ours = rows(source, table), rows(target, table)
    one, other = next(theirs, None), next(ours, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[: table.key] < other[: table.key]):
            yield one, None
            one = next(theirs, None)
        elif one is None or other[: table.key] < one[: table.key]:
            yield None, other
            other = next(ours, None)
        else:
            yield one, other
            one, other = next(theirs, None), next(ours, None)


def _gone(source: Database, target: Database) -> list[MessageEntry]:
    """Messages of the target that the source has no more. Raises `Refused` when the target is not a copy of it."""
    highest, gone = next_number(source) - 1, []
    for theirs, ours in pairs(source, target, MESSAGES):
        if ours is None:
            continue
        if ours.n > highest or (theirs is not None and (theirs.id, theirs.digest) != (ours.id, ours.digest)):
            raise Refused(
                f"The target has a history of its own (message {ours.id!r}); nothing was copied. "
                "Copy into an empty store, or export and import to bring two histories together."
            )
        if theirs is None:
            gone.append(ours)
    return gone


# Carrying over ------------------------------------------------------------------------------------------------------


def _remove(source: Database, target: Database, gone: list[MessageEntry], now: int) -> None:
    """Removes what was deleted in the source; into the trash, unless the source's own trash has it."""
    known = all(source.row("trash_holding", message.id) for message in gone)
    trash.delete(target, [message.n for message in gone], now, "copying: gone from the source", keep=not known)


def _messages(source: Database, target: Database, done: Copied, progress: Progress | None) -> None:
    labels: list[tuple[str | None, int]] = []

    def missing() -> Iterator[int]:
        for theirs, ours in pairs(source, target, MESSAGES):
            if theirs is not None and ours is None:
                yield theirs.n
            elif theirs is not None and ours is not None and theirs.label != ours.label:
                labels.append((theirs.label, theirs.n))

    total, *_ = source.row("size") or (0,)
    for batch in _batches(missing()):
        done.bytes += target.transact(lambda batch=batch: _copy_messages(source, target, batch))  # type: ignore[misc]
        done.messages += len(batch)
        if progress is not None:
            progress(done.messages, total)
    if labels:
        target.transact(lambda: target.run_many("set_label", labels))


def _copy_messages(source: Database, target: Database, batch: list[int]) -> int:
    """Copies messages with their blocks and blobs; how many bytes these are."""
    wanted = json_list(batch)
    messages = [MessageRow(*row) for row in source.rows("message_rows", wanted)]
    blocks = [BlockRow(*row) for row in source.rows("block_rows", wanted)]
    numbers = blobs.copy(source, target, blobs.count([*messages, *blocks]))
    target.run_many("insert_message", blobs.renumber(messages, numbers))
    target.run_many("insert_block", blobs.renumber(blocks, numbers))
    target.run("keep_numbers", batch[-1])
    search.reindex(target, batch)
    sizes: Iterator[int] = (size for _, _, size, _ in source.rows("blobs_by_number", json_list(numbers)))
    cells = (cell for row in [*messages, *blocks] for cell in row)
    return sum(sizes) + sum(len(cell) for cell in cells if isinstance(cell, (str, bytes)))


def _rows(source: Database, target: Database, table: Table, delete: str, insert: str) -> int:
    """Copies the rows that differ as they are; how many differed."""

    def replace(batch: list[Pair]) -> None:
        target.run_many(delete, [ours[: table.key] for _, ours in batch if ours is not None])
        target.run_many(insert, [theirs for theirs, _ in batch if theirs is not None])

    count = 0
    for batch in _batches((theirs, ours) for theirs, ours in pairs(source, target, table) if theirs != ours):
        target.transact(lambda batch=batch: replace(batch))  # type: ignore[misc]
        count += len(batch)
    return count


def _sessions(source: Database, target: Database) -> int:
    """Copies all sessions in one go, because one may have the key that another had; how many differed.

    Leases are left out: who is writing to the source is not writing to the target.
    """
    changed = [(theirs, ours) for theirs, ours in pairs(source, target, SESSIONS) if not _is_same(theirs, ours)]
    target.run_many("delete_session", [(ours.n,) for _, ours in changed if ours is not None])
    target.run_many("insert_session_row", [theirs.without_lease() for theirs, _ in changed if theirs is not None])
    number, activity = source.row("session_numbers") or (0, 0)
    target.run("keep_session_numbers", number)
    target.run("keep_activity", activity)
    target.run("keep_numbers", next_number(source) - 1)
    return len(changed)


def _is_same(theirs: Row | None, ours: Row | None) -> bool:
    """Whether two rows are equal, apart from the lease."""
    if isinstance(theirs, SessionRow) and isinstance(ours, SessionRow):
        return theirs.without_lease() == ours.without_lease()
    return theirs == ours


def _trash(source: Database, target: Database) -> None:
    missing: list[TrashPageRow] = []
    for theirs, ours in pairs(source, target, TRASH):
        if theirs is None and ours is not None:
            target.transact(lambda ours=ours: trash.forget(target, _content(target, ours.id)))  # type: ignore[misc]
        elif theirs is not None and ours is None:
            missing.append(theirs)
    # By number, which is the order of deletion: of several entries of one name, the newest is restored.
    for entry in sorted(missing, key=lambda entry: entry.n):
        target.transact(lambda entry=entry: _copy_entry(source, target, entry))  # type: ignore[misc]


def _copy_entry(source: Database, target: Database, entry: TrashPageRow) -> None:
    """Copies an entry of the trash, with the blobs that its rows hold."""
    deleted = unpack(_content(source, entry.id).payload)
    copied = deleted.renumbered(blobs.copy(source, target, deleted.blobs))
    names = [name for (name,) in source.rows("trash_names", entry.n)]
    trash.add_entry(target, entry.id, entry.deleted_at, entry.reason, copied, names)


def _content(db: Database, id: str) -> TrashContent:
    row = db.row("trash_entry", id)
    assert row is not None
    return TrashContent(*row)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of as many as one transaction carries."""
    left = iter(items)
    while batch := list(islice(left, PAGE)):
        yield batch


# Checking -----------------------------------------------------------------------------------------------------------


def _compare(source: Database, target: Database) -> None:
    """Raises `Corrupt` for a row that only one side has, or that differs."""
    for table in (MESSAGES, SESSIONS, TURNS, REPLIES, EXTERNALS, DIRECTORIES, DOCUMENTS, PINS):
        for theirs, ours in pairs(source, target, table):
            if not _is_same(theirs, ours):
                what, (key, *_) = table.statement.removesuffix("_page"), theirs or ours
                raise Corrupt(f"The copy differs from its source in {what} {key}; copy again.")
