"""One store into another, of any engine: the same rows, under the same numbers and names.

A copy can be broken off and begun again, and begun again while the source goes on: every run compares both sides, page
by page, and carries over what differs. The target must be empty, or an earlier copy that nobody else has written to.
Blobs may have other numbers there; they are known by their digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from bough.codec import json_list
from bough.db import Database, Row
from bough.errors import Corrupt, Refused
from bough.model.values import value, workpiece
from bough.protocols import Progress
from bough.storage import trash
from bough.storage.messages import next_number

PAGE = 500
LEASE = slice(14, 17)
"""The place of the lease in a session's row."""

T = TypeVar("T")
Pair: TypeAlias = tuple[Row | None, Row | None]


@value
class Table:
    """How a table is read in pages."""

    statement: str
    key: int = 1
    """So many columns at its beginning are its key,"""
    before: tuple[int | str, ...] = (0,)
    """and this comes before every one."""


MESSAGES, SESSIONS, TURNS = Table("message_page"), Table("session_page"), Table("turn_page")
EXTERNALS, TRASH = Table("external_page", 2, ("", "")), Table("trash_page", 1, ("",))


@workpiece
class Copied:
    """What a copy has carried over, and what it found gone from the source and took away."""

    messages: int = 0
    bytes: int = 0
    sessions: int = 0
    turns: int = 0
    removed: int = 0


def copy(source: Database, target: Database, now: int, progress: Progress | None = None) -> Copied:
    """Makes the target what the source is at this moment. Raises `Refused`, before it writes, for another's target."""
    done = Copied()
    with source.reading():
        gone = _gone(source, target)
        if gone:
            target.transact(lambda: _remove(source, target, gone, now))
        done.removed = len(gone)
        _messages(source, target, done, progress)
        done.turns = _rows(source, target, TURNS, "delete_turn", "insert_turn")
        _rows(source, target, EXTERNALS, "delete_external", "insert_external")
        done.sessions = target.transact(lambda: _sessions(source, target))
        _trash(source, target)
        _compare(source, target)
    return done


# Side by side -------------------------------------------------------------------------------------------------------


def rows(db: Database, table: Table) -> Iterator[Row]:
    """All rows of a table, in the order of its key; a few are in memory at a time."""
    last: tuple[Any, ...] = table.before
    while page := db.rows(table.statement, *last, PAGE):
        yield from page
        last = page[-1][: table.key]


def pairs(source: Database, target: Database, table: Table) -> Iterator[Pair]:
    """The rows of both stores that have the same key, and those that have no partner."""
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


def _gone(source: Database, target: Database) -> list[Row]:
    """What the target has and the source has not any more. Raises `Refused` when the target is not a copy of it."""
    highest, gone = next_number(source) - 1, []
    for theirs, ours in pairs(source, target, MESSAGES):
        if ours is None:
            continue
        if ours[0] > highest or (theirs is not None and theirs[1:3] != ours[1:3]):
            raise Refused(
                f"The target has a history of its own (message {ours[1]!r}); nothing was copied. "
                "Copy into an empty store, or export and import to bring two histories together."
            )
        if theirs is None:
            gone.append(ours)
    return gone


# Carrying over ------------------------------------------------------------------------------------------------------


def _remove(source: Database, target: Database, gone: list[Row], now: int) -> None:
    """Takes away what was deleted in the source; into the trash, unless the source's own trash has it."""
    known = all(source.row("trash_holding", id_) for _, id_, *_ in gone)
    trash.delete(target, [n for n, *_ in gone], now, "copying: gone from the source", keep=not known)


def _messages(source: Database, target: Database, done: Copied, progress: Progress | None) -> None:
    labels: list[tuple[str | None, int]] = []

    def missing() -> Iterator[int]:
        for theirs, ours in pairs(source, target, MESSAGES):
            if theirs is not None and ours is None:
                yield theirs[0]
            elif theirs is not None and ours is not None and theirs[3] != ours[3]:
                labels.append((theirs[3], theirs[0]))

    size = source.row("size")
    for lot in _lots(missing()):
        done.bytes += target.transact(lambda lot=lot: _lot(source, target, lot))  # type: ignore[misc]
        done.messages += len(lot)
        if progress is not None:
            progress(done.messages, size[0] if size else 0)
    if labels:
        target.transact(lambda: target.run_many("set_label", labels))


def _lot(source: Database, target: Database, lot: list[int]) -> int:
    """Some messages with their blocks and blobs; how many bytes they are."""
    wanted = json_list(lot)
    kept = {"messages": source.rows("message_rows", wanted), "blocks": source.rows("block_rows", wanted)}
    numbers = _blobs(source, target, trash.blobs(kept))
    copies = _renumbered(kept, numbers)
    target.run_many("insert_message", copies["messages"])
    target.run_many("insert_block", copies["blocks"])
    target.run("keep_numbers", lot[-1])
    target.run("index_again", lot[0])
    sizes: Iterator[int] = (row[2] for row in source.rows("blobs_by_number", json_list(numbers)))
    cells = (cell for table in kept.values() for row in table for cell in row)
    return sum(sizes) + sum(len(cell) for cell in cells if isinstance(cell, (str, bytes)))


def _blobs(source: Database, target: Database, counts: Mapping[int, int]) -> dict[int, int]:
    """The numbers in the target of blobs of the source; each is held once more for every block that has it."""
    known = {row[0]: row for row in source.rows("blobs_by_number", json_list(counts))}
    wanted = {row[1]: counts[n] for n, row in known.items()}
    held: dict[bytes, int] = dict(target.rows_many("hold_blob", list(wanted.items()))) if wanted else {}
    for n, digest, size, encoding in known.values():
        if digest not in held and (content := source.row("blob_content", n)) is not None:
            held |= dict(target.rows_many("insert_blob", [(digest, size, encoding, wanted[digest])]))
            target.run("insert_blob_bytes", held[digest], content[0])
    return {n: held[row[1]] for n, row in known.items() if row[1] in held}


def _renumbered(kept: Mapping[str, Any], numbers: Mapping[int, int]) -> dict[str, list[list[Any]]]:
    """The rows of messages and blocks as the target takes them."""
    made = {"messages": [*map(list, kept["messages"])], "blocks": [*map(list, kept["blocks"])]}
    for name, place in (("messages", trash.MESSAGE_BLOB), ("blocks", trash.BLOCK_BLOB)):
        for row in made[name]:
            row[place] = row[place] and numbers.get(row[place])
    return made


def _rows(source: Database, target: Database, table: Table, delete: str, insert: str) -> int:
    """Rows that are carried over as they are; how many differed."""

    def replace(lot: list[Pair]) -> None:
        target.run_many(delete, [ours[: table.key] for _, ours in lot if ours is not None])
        target.run_many(insert, [theirs for theirs, _ in lot if theirs is not None])

    count = 0
    for lot in _lots((theirs, ours) for theirs, ours in pairs(source, target, table) if theirs != ours):
        target.transact(lambda lot=lot: replace(lot))  # type: ignore[misc]
        count += len(lot)
    return count


def _sessions(source: Database, target: Database) -> int:
    """All sessions at once: one may have the key that another had. How many differed."""
    changed = [(theirs, ours) for theirs, ours in pairs(source, target, SESSIONS) if _settled(theirs) != _settled(ours)]
    for _, ours in changed:
        if ours is not None:
            target.run("delete_session", ours[0])
    target.run_many("copy_session", [settled for theirs, _ in changed if (settled := _settled(theirs)) is not None])
    counted = source.row("session_numbers")
    target.run("keep_session_numbers", counted[0] if counted else 0)
    target.run("keep_numbers", next_number(source) - 1)
    return len(changed)


def _settled(session: Row | None) -> Row | None:
    """A session without its lease: whoever is writing to the source is not writing to the target."""
    return session and (*session[: LEASE.start], *session[LEASE.stop :])


def _trash(source: Database, target: Database) -> None:
    for theirs, ours in pairs(source, target, TRASH):
        if theirs is None and ours is not None:
            target.transact(lambda ours=ours: trash.forget(target, ours[1], _payload(target, ours)))  # type: ignore[misc]
        elif theirs is not None and ours is None:
            target.transact(lambda theirs=theirs: _entry(source, target, theirs))  # type: ignore[misc]


def _entry(source: Database, target: Database, entry: Row) -> None:
    """An entry of the trash, whose rows hold blobs too."""
    id_, n, deleted_at, reason, count = entry
    kept = trash.read(_payload(source, entry))
    kept |= _renumbered(kept, _blobs(source, target, trash.blobs(kept)))
    inserted = target.row("insert_trash", id_, deleted_at, reason, count, trash.write(kept))
    assert inserted is not None
    target.run_many("insert_trash_name", [(name, inserted[0]) for (name,) in source.rows("trash_names", n)])


def _payload(db: Database, entry: Row) -> bytes:
    row = db.row("trash_entry", entry[0])
    assert row is not None
    return bytes(row[1])


def _lots(items: Iterable[T]) -> Iterator[list[T]]:
    """Some at a time: as much as one transaction carries."""
    left = iter(items)
    while lot := list(islice(left, PAGE)):
        yield lot


# Proving ------------------------------------------------------------------------------------------------------------


def _compare(source: Database, target: Database) -> None:
    """Every message, session, turn and name must be there, and no other. Raises `Corrupt`."""
    for table in (MESSAGES, SESSIONS, TURNS, EXTERNALS):
        for theirs, ours in pairs(source, target, table):
            same = _settled(theirs) == _settled(ours) if table is SESSIONS else theirs == ours
            if not same:
                what = table.statement.removesuffix("_page")
                raise Corrupt(f"The copy differs from its source in {what} {(theirs or ours or ())[0]}; copy again.")
