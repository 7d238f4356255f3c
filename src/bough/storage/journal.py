"""The undo journal: how to take back the latest moves, deletions, titles and labels.

A row is written in the transaction of its change, under the number of that change, with the state before and after it.
Undoing is a compare-and-set: it gives back the state before only where the state is still the one after, so that
nothing that was done since is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bough.codec import json_text, json_value, uncolumn
from bough.db import Database
from bough.db.rows import JournalRow, SessionRow
from bough.errors import Conflict, NotFound, Refused
from bough.model import Json, Undoable, UndoVerb
from bough.storage import changes, leases, lookup, trash, turns
from bough.storage.rows import TrashContent
from bough.storage.trash_payload import unpack

HEAD_VERBS: tuple[UndoVerb, ...] = ("move", "rewind", "pop", "compact")


class JournalEntry(NamedTuple):
    """A row of the journal, decoded."""

    n: int
    at: int
    verb: UndoVerb
    session: int | None
    message: int | None
    before: Json
    after: Json
    trash: str | None


def add(
    db: Database, verb: UndoVerb, now: int, *, session: int | None = None, message: int | None = None,
    before: Json = None, after: Json = None, trash: str | None = None,
) -> None:  # fmt: skip
    """Records how to undo the change that was recorded last."""
    db.run("insert_journal", now, verb, session, message, json_text(before), json_text(after), trash)
    if changes.prunes(now, session, message):
        db.run("prune_journal", changes.KEPT, changes.PRUNED)


def entries(db: Database, session: int | None, limit: int) -> list[Undoable]:
    """What could be undone, the newest first: in the whole store, or of one session."""
    return [_undoable(db, entry) for entry in _rows(db, session, None, limit)]


def undo(db: Database, session: int | None, cursor: int | None, now: int) -> Undoable | None:
    """Takes back the newest entry, or the one with this number; None if there is nothing to undo.

    Raises `NotFound` for a number without an entry, `Refused` if something that was done since would be lost, and
    `Busy` while a turn is open there.
    """
    found = _rows(db, session, cursor, 1)
    if not found:
        if cursor is not None:
            raise NotFound(f"Change {cursor} cannot be undone: it is no such change, or it was undone before.")
        return None
    (entry,) = found
    undone = _undoable(db, entry)
    UNDO[entry.verb](db, entry, now)
    db.run("delete_journal", entry.n)
    return undone


def _rows(db: Database, session: int | None, cursor: int | None, limit: int) -> list[JournalEntry]:
    rows = map(JournalRow._make, db.rows("journal", session, cursor, limit))
    return [JournalEntry(*row[:5], json_value(row.before), json_value(row.after), row.trash) for row in rows]  # type: ignore[arg-type]


# Giving back the state before ---------------------------------------------------------------------------------------


def _require(holds: bool, entry: JournalEntry, why: str) -> None:
    if not holds:
        raise Refused(f"That was not undone: {why}. Nothing was changed; `undo({entry.n})` tries it again.")


def _session(db: Database, entry: JournalEntry, now: int) -> leases.SessionState:
    """The session of an entry. Raises `Refused` if it was deleted, and `Busy` while a turn is open in it."""
    key = lookup.session_key(db, entry.session)
    _require(key is not None, entry, "the session was deleted since")
    assert key is not None
    return leases.unleased(db, key, now)


def _undo_move(db: Database, entry: JournalEntry, now: int) -> None:
    session = _session(db, entry, now)
    _require(session.head == entry.after, entry, f"session {session.key!r} has gone on since, or was moved")
    before = entry.before
    _require(before is None or lookup.header(db, before) is not None, entry, "the message where it stood was deleted")
    turns.move_head(db, session.n, before)
    changes.add(db, "moved", now, session.n, before)


def _undo_title(db: Database, entry: JournalEntry, now: int) -> None:
    row = _row(db, entry.session)
    _require(row is not None and row.title == entry.after, entry, "the session has another title now, or was deleted")
    db.run("set_title", entry.before, entry.session)
    changes.add(db, "updated", now, entry.session)


def _undo_label(db: Database, entry: JournalEntry, now: int) -> None:
    row = db.row("label_of", entry.message)
    _require(row is not None and row[0] == entry.after, entry, "the message has another label now, or was deleted")
    db.run("set_label", entry.before, entry.message)
    changes.add(db, "labelled", now, None, entry.message)


def _undo_delete(db: Database, entry: JournalEntry, now: int) -> None:
    row = db.row("trash_entry", entry.trash)
    _require(row is not None, entry, "what was deleted has been purged")
    content = TrashContent._make(row or ())
    for move in unpack(content.payload).moved:
        session = _row(db, move.session)
        stays = session is not None and session.head == move.after and session.lease_turn is None
        advice = f"`restore({content.id!r})` brings the messages back without it"
        _require(stays, entry, f"a session that stood there has gone on since, or was deleted; {advice}")
    try:
        trash.restore(db, content.id, now)
    except Conflict as conflict:
        raise Refused(str(conflict)) from None


def _undo_new(db: Database, entry: JournalEntry, now: int) -> None:
    session = _session(db, entry, now)
    _require(session.head is None, entry, f"session {session.key!r} has gone on since")
    kept = _row(db, entry.before)
    _require(kept is not None and new_state(db, kept) == entry.after, entry, "the session that kept it was used since")
    assert kept is not None
    changes.add(db, "deleted", now, kept.n)
    trash.remove_session(db, kept)
    turns.move_head(db, session.n, kept.head)
    row = _row(db, session.n)
    assert row is not None
    db.run("date_session", row.created_at, kept.updated_at, row.n)
    trash.place(db, row.n, kept.activity)
    changes.add(db, "moved", now, session.n, kept.head)


def new_state(db: Database, kept: SessionRow) -> list[Json]:
    """What must be unchanged of the session in which `new` kept the dialog, to be without loss when it is removed."""
    documents = [list(row[1:3]) for row in db.rows("document_rows", kept.n)]
    others = [n for n, _ in db.rows("child_sessions", kept.n)]
    names = [list(row[:2]) for row in db.rows("external_rows_of_session", kept.n)]
    described = kept._asdict() | {"activity": 0}
    del described["placed"]  # it follows from the head
    return [list(described.values()), documents, others, names]


UNDO: dict[UndoVerb, Callable[[Database, JournalEntry, int], None]] = {
    **dict.fromkeys(HEAD_VERBS, _undo_move),
    "title": _undo_title,
    "label": _undo_label,
    "delete": _undo_delete,
    "clear": _undo_delete,
    "new": _undo_new,
}


def _row(db: Database, session: int | None) -> SessionRow | None:
    return None if session is None else trash.session_row(db, session)


# Describing ---------------------------------------------------------------------------------------------------------


def _undoable(db: Database, entry: JournalEntry) -> Undoable:
    place = entry.before if entry.verb in HEAD_VERBS else entry.message
    key = lookup.session_key(db, entry.session)
    return Undoable(entry.n, entry.verb, key, lookup.id_of(db, place), entry.at, _text(db, entry, key))


def _text(db: Database, entry: JournalEntry, key: str | None) -> str:
    """What was done, as a sentence."""
    name = "a deleted session" if key is None else f"session {key!r}"
    match entry.verb:
        case "delete":
            return f"Deleted {entry.after}"
        case "label":
            label = "no label" if entry.after is None else f"the label {uncolumn(entry.after)!r}"
            return f"Gave message {_id(db, entry.message)} {label}"
        case "title":
            return f"Gave {name} the title {uncolumn(entry.after)!r}"
        case "pop":
            return f"Took message {_id(db, entry.before)} off {name}"
        case "move" | "rewind":
            done = "Moved" if entry.verb == "move" else "Rewound"
            return f"{done} {name} from {_id(db, entry.before)} to {_id(db, entry.after)}"
    return f"{OTHERS[entry.verb]} {name}"


OTHERS = {"clear": "Cleared", "new": "Started afresh in", "compact": "Summarized"}


def _id(db: Database, n: int | None) -> str:
    if n is None:
        return "before the first message"
    id = lookup.id_of(db, n)
    return "a deleted message" if id is None else repr(id)
