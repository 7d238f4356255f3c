"""From the names that people type to the numbers of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.codec import json_list
from bough.db import Database
from bough.errors import Ambiguous, NotFound
from bough.model import ids


def number(db: Database, id: str) -> int:
    """The number of a message, by its id or the beginning of it. Raises `NotFound` and `Ambiguous`."""
    row = db.row("number", ids.check_id(id))
    return int(row[0]) if row else by_prefix(db, id)[1]


def full_id(db: Database, id: str) -> str:
    """The whole id of a message, from the beginning of it."""
    return id if db.row("number", ids.check_id(id)) else by_prefix(db, id)[0]


def numbers(db: Database, wanted: Sequence[str]) -> dict[str, int]:
    """The number of each; raises `NotFound` naming all that are not there."""
    found = dict(db.rows("numbers", json_list(map(ids.check_id, wanted))))
    lost = []
    for id in wanted:
        if id not in found:
            try:
                found[id] = by_prefix(db, id)[1]
            except NotFound:
                lost.append(id)
    if lost:
        raise NotFound(f"There is no message {ids.names(lost)}.")
    return found


def by_prefix(db: Database, prefix: str) -> tuple[str, int]:
    """The one message whose id begins like this."""
    enough = len(prefix) >= ids.SHORTEST_PREFIX
    rows = db.rows("numbers_by_prefix", prefix, prefix + ids.AFTER_ALL) if enough else []
    if not rows:
        raise NotFound(f"There is no message {prefix!r:.60}.")
    if len(rows) > 1:
        raise Ambiguous(f"{prefix!r} could be {ids.names((row[0] for row in rows), 5)}; type more of it.")
    return rows[0][0], rows[0][1]


def deleted(db: Database, prefix: str) -> str:
    """The name of the one entry of the trash that is called like this at its beginning, or holds a message that is."""
    enough = len(prefix) >= ids.SHORTEST_PREFIX
    found = [id for (id,) in db.rows("trash_by_prefix", prefix, prefix + ids.AFTER_ALL)] if enough else []
    if not found:
        raise NotFound(f"Nothing in the trash is called {prefix!r:.60}.")
    if len(found) > 1:
        raise Ambiguous(f"{prefix!r} is in {ids.names(found, 5)} of the trash; type more of it.")
    return str(found[0])


def ancestors(db: Database, n: int) -> list[int]:
    """A message and all before it, nearest first."""
    return [above for (above,) in db.rows("ancestors", n)]


def id_of(db: Database, n: int | None) -> str | None:
    """The id of a row, if it is there."""
    return None if n is None else ids_of(db, [n]).get(n)


def ids_of(db: Database, wanted: Iterable[int]) -> dict[int, str]:
    """The ids of these rows, of those that are there."""
    return {row[0]: row[1] for row in db.rows("ids", json_list(wanted))}
