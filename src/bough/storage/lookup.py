"""Finds rows by ids, prefixes of ids, keys and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.codec import column, json_list
from bough.db import Database, Row
from bough.errors import Ambiguous, NotFound
from bough.model import ids
from bough.storage.rows import ExternalTarget, MessageHeader, NumberedId, TurnSpan


def number(db: Database, id: str) -> int:
    """The number of a message, by its id or a prefix of it. Raises `NotFound` and `Ambiguous`."""
    found = number_of(db, ids.check_id(id))
    return by_prefix(db, id).n if found is None else found


def number_of(db: Database, id: str) -> int | None:
    """The number of a message, by its id; None if it is not there."""
    return _number_in(db.row("number", id))


def full_id(db: Database, id: str) -> str:
    """The id of a message, by a prefix of it. Raises `NotFound` and `Ambiguous`."""
    return by_prefix(db, id).id if number_of(db, ids.check_id(id)) is None else id


def numbers(db: Database, wanted: Sequence[str]) -> dict[str, int]:
    """The numbers of messages by their ids. Raises `NotFound` with all that are missing."""
    found = dict(db.rows("numbers", json_list(map(ids.check_id, wanted))))
    lost = []
    for id in wanted:
        if id not in found:
            try:
                found[id] = by_prefix(db, id).n
            except NotFound:
                lost.append(id)
    if lost:
        raise NotFound(f"There is no message {ids.names(lost)}.")
    return found


def by_prefix(db: Database, prefix: str) -> NumberedId:
    """The one message whose id has this prefix. Raises `NotFound` and `Ambiguous`."""
    enough = len(prefix) >= ids.SHORTEST_PREFIX
    rows = db.rows("numbers_by_prefix", prefix, prefix + ids.AFTER_ALL) if enough else []
    found = [NumberedId(*row) for row in rows]
    if not found:
        raise NotFound(f"There is no message {prefix!r:.60}.")
    if len(found) > 1:
        raise Ambiguous(f"{prefix!r} could be {ids.names((one.id for one in found), 5)}; type more of it.")
    return found[0]


def deleted(db: Database, prefix: str) -> str:
    """The id of the one trash entry with this prefix, or with a message with it. Raises `NotFound` and `Ambiguous`."""
    enough = len(prefix) >= ids.SHORTEST_PREFIX
    found = [id for (id,) in db.rows("trash_by_prefix", prefix, prefix + ids.AFTER_ALL)] if enough else []
    if not found:
        raise NotFound(f"Nothing in the trash is called {prefix!r:.60}.")
    if len(found) > 1:
        raise Ambiguous(f"{prefix!r} is in {ids.names(found, 5)} of the trash; type more of it.")
    return str(found[0])


def ancestors(db: Database, n: int) -> list[int]:
    """The numbers of a message and its ancestors, nearest first."""
    return [above for (above,) in db.rows("ancestors", n)]


def id_of(db: Database, n: int | None) -> str | None:
    """The id of a message; None if it is not stored."""
    return None if n is None else ids_of(db, [n]).get(n)


def ids_of(db: Database, wanted: Iterable[int]) -> dict[int, str]:
    """The ids of messages by their numbers, without those that are not stored."""
    return dict(db.rows("ids", json_list(wanted)))


def header(db: Database, n: int | None) -> MessageHeader | None:
    """The header of a message; None if it is not stored."""
    row = None if n is None else db.row("message_header", n)
    return None if row is None else MessageHeader(*row)


def span(db: Database, turn: int | None) -> TurnSpan | None:
    """The span of a turn; None if it is not stored."""
    row = None if turn is None else db.row("turn_span", turn)
    return None if row is None else TurnSpan(*row)


def external(db: Database, kind: str, value: str | None) -> ExternalTarget | None:
    """The target of an external id; None if it is unknown."""
    row = db.row("find_external", kind, column(value))
    return None if row is None else ExternalTarget(*row)


def name_messages(db: Database, ids: Sequence[str], names: Sequence[tuple[str, str] | None]) -> None:
    """Remembers what others call messages, one name or none for each. A name that is known stays as it is."""
    found = numbers(db, ids)
    rows = [(name[0], column(name[1]), found[id], None) for id, name in zip(ids, names, strict=True) if name]
    db.run_many("insert_external", rows)


def session_key(db: Database, n: int | None) -> str | None:
    """The key of a session; None if it is not stored."""
    for _, key in db.rows("session_keys", json_list([n])) if n is not None else ():
        return str(key)
    return None


def session_number(db: Database, key: str) -> int | None:
    """The number of a session; None if there is none with this key."""
    return _number_in(db.row("session_number", key))


def session_of(db: Database, messages: Iterable[int]) -> int | None:
    """The number of the session whose turn added the first of these messages that a turn added; None if none did."""
    rows = db.rows("sessions_of_messages", json_list(messages))
    return min(rows)[1] if rows else None


def check_session(db: Database, key: str | None) -> None:
    """Raises `NotFound` if there is no session with this key; None is any session."""
    if key is not None and session_number(db, key) is None:
        raise NotFound(f"There is no session {key!r:.80}.")


def _number_in(row: Row | None) -> int | None:
    """The only column of a row, if there is a row."""
    return None if row is None else int(*row)
