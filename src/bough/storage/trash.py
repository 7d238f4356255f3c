"""Deleting, restoring and purging, inside a transaction that the caller holds.

A deletion takes whole subtrees out of the tables and keeps their rows, as they were, in one entry of the trash. Blobs
stay counted while an entry holds them. Restoring puts the rows back under the same ids and numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from bough.codec import column, json_list, uncolumn
from bough.db import Database
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
from bough.errors import Conflict, Corrupt, NotFound, Refused
from bough.model import TrashEntry, ids
from bough.storage import blobs, changes, leases, lookup, partial, replies, search, turns
from bough.storage.messages import taken
from bough.storage.rows import RunningTurn, TrashContent
from bough.storage.trash_payload import CutTurn, Deleted, MovedHead, pack, unpack

PAGE = 50
SESSION = "session "
"""Before the key of a session among the names of the trash: keys and ids share one index."""


def delete(
    db: Database, doomed: list[int], now: int, reason: str,
    keep: bool = True, sessions: Iterable[int] = (), emptied: int | None = None,
) -> str | None:  # fmt: skip
    """Removes these messages, which no survivor may follow, and these sessions; `emptied` loses its head.

    What is removed becomes an entry of the trash if `keep`. Raises `Refused` when a turn is being written there.
    """
    everything = json_list(doomed)
    _end_turns(db, everything, now)
    removed = [row for n in sessions if (row := session_row(db, n))]
    moved = _move_heads(db, set(doomed), {session.n for session in removed}, emptied, now)
    cut = _cut_turns(db, set(doomed))
    if not (doomed or removed or moved):
        return None
    deleted = Deleted(
        [MessageRow(*row) for row in db.rows("message_rows", everything)],
        [BlockRow(*row) for row in db.rows("block_rows", everything)],
        [TurnRow(*row) for row in db.rows("turn_rows", everything)],
        [ReplyRow(*row) for row in db.rows("reply_rows", everything)],
        [ExternalRow(*row) for row in db.rows("external_rows", everything)],
        removed, moved, cut,
        [DirectoryRow(*row) for session in removed for row in db.rows("directories_of", session.n)],
        [DocumentRow(*row) for session in removed for row in db.rows("document_rows", session.n)],
        [PinRow(*row) for row in db.rows("pin_rows", everything)],
    )  # fmt: skip
    for session in removed:
        remove_session(db, session)
    db.run_many("delete_directory", [(directory.path,) for directory in deleted.directories])
    search.unindex(db, doomed)
    for statement in (
        "forget_externals", "delete_pins", "delete_turns", "delete_replies", "delete_blocks", "delete_messages",
    ):  # fmt: skip
        db.run(statement, everything)
    replies.sum_turns(db, (reply.turn for reply in deleted.replies))
    if doomed:
        db.run("keep_numbers", doomed[-1])
    if keep:
        return _keep(db, deleted, now, reason)
    blobs.release(db, deleted.blobs)
    return None


def entries(db: Database) -> list[TrashEntry]:
    """All entries, the newest first."""
    found = []
    for n, id_, deleted_at, reason, count in db.rows("trash"):
        keys = tuple(name.removeprefix(SESSION) for (name,) in db.rows("trash_sessions", n))
        found.append(TrashEntry(id_, deleted_at, uncolumn(reason) or "", count, keys))
    return found


def find(db: Database, name: str) -> TrashContent:
    """The entry with this id, or the newest that holds this message or session. Raises `NotFound`."""
    row = db.row("trash_entry", name) or db.row("trash_holding", name) or db.row("trash_holding", SESSION + name)
    if row is None:
        raise NotFound(f"Nothing in the trash is called {name!r}.")
    return TrashContent(*row)


def restore(db: Database, name: str, now: int) -> list[str]:
    """Puts an entry back; the ids of its messages, parents first.

    Raises `NotFound`, `Refused` when the message before it is in the trash too, `Conflict` for a key in use, `Corrupt`
    and `SchemaTooNew`.
    """
    entry = find(db, name)
    deleted = unpack(entry.payload)
    _check_parents(db, deleted.messages)
    for session in deleted.sessions:
        if lookup.session_number(db, session.key):
            raise Conflict(
                f"There is a session {session.key!r} again; rename or delete it, then restore. Nothing was changed."
            )
    db.run_many("insert_message", deleted.messages)
    db.run_many("insert_block", deleted.blocks)
    db.run_many("insert_turn", [_without_used_key(db, turn) for turn in deleted.turns])
    db.run_many("insert_reply", deleted.replies)
    db.run_many("restore_external", deleted.externals)
    db.run_many("insert_pin", deleted.pins)
    for session in deleted.sessions:
        _restore_session(db, session)
    db.run_many("insert_document", deleted.documents)
    first = deleted.messages[0].n if deleted.messages else None
    for session in deleted.sessions:
        changes.add(db, "restored", now, session.n, first)
    if not deleted.sessions:
        changes.add(db, "restored", now, None, first)
    db.run_many("restore_directory", deleted.directories)
    for turn, before, after in deleted.cut:
        span = lookup.span(db, turn)
        if span and span.last == after and span.status != "running":
            db.run("cut_turn", before, turn)
    replies.sum_turns(db, (reply.turn for reply in deleted.replies))
    for move in deleted.moved:
        _move_back(db, move, now)
    search.reindex(db, [message.n for message in deleted.messages])
    _remove_entry(db, entry)
    return [message.id for message in deleted.messages]


def forget(db: Database, entry: TrashContent) -> None:
    """Removes one entry for good."""
    with suppress(Corrupt):  # then nobody can tell which blobs it held: verify() counts them again
        blobs.release(db, unpack(entry.payload).blobs)
    _remove_entry(db, entry)


def _remove_entry(db: Database, entry: TrashContent) -> None:
    db.run("delete_trash", entry.n)
    db.run("delete_journal_of_trash", entry.id)


def add_entry(
    db: Database, id: str, deleted_at: int, reason: str | None, deleted: Deleted, names: Iterable[str]
) -> None:
    """Writes an entry that is found by these names."""
    row = db.row("insert_trash", id, deleted_at, reason, len(deleted.messages), pack(deleted))
    assert row is not None
    db.run_many("insert_trash_name", [(name, *row) for name in names])


def place(db: Database, session: int, activity: int) -> None:
    """Puts a session at a place in the order of last use: at the first free one from `activity` on."""
    (free,) = db.row("free_activity", activity, session) or (activity,)
    db.run("place_session", free, session)


def remove_session(db: Database, session: SessionRow) -> None:
    """Removes a session and its documents; its number and its place are not given to another one."""
    db.run("delete_documents", session.n)
    db.run("delete_session", session.n)
    db.run("keep_session_numbers", session.n)
    db.run("keep_activity", session.activity)


def session_row(db: Database, n: int) -> SessionRow | None:
    row = db.row("session_row", n)
    return None if row is None else SessionRow(*row)


def _end_turns(db: Database, everything: str, now: int) -> None:
    """Ends the turns there whose writers are gone. Raises `Refused` for one that is being written."""
    for row in db.rows("running_turns_in", everything):
        turn = RunningTurn(*row)
        if not leases.is_abandoned(turn, now):
            raise Refused(f"Session {turn.key!r} is in the middle of a turn there; nothing was deleted.")
        if turn.n < 0:
            partial.forget(db, turn.n)
            continue
        db.run("drop_sketch", turn.n)  # it would have followed what is being deleted
        leases.interrupt_abandoned(db, turn, now)


def _move_heads(
    db: Database, doomed: Collection[int], removed: Collection[int], emptied: int | None, now: int
) -> list[MovedHead]:
    """Moves the heads on doomed messages to the nearest surviving ancestors."""
    moved = []
    at: dict[int, int | None] = dict(db.rows("sessions_at", json_list(doomed)))
    if emptied is not None:
        at |= dict(db.rows("session_head", emptied))
    for session, head in at.items():
        if session not in removed and head is not None:
            above = () if session == emptied else lookup.ancestors(db, head)
            survivor = next((n for n in above if n not in doomed), None)
            turns.move_head(db, session, survivor)
            if session != emptied:
                changes.add(db, "moved", now, session, survivor)
            moved.append(MovedHead(session, head, survivor))
    return moved


def _cut_turns(db: Database, doomed: Collection[int]) -> list[CutTurn]:
    """Makes turns that lose their end stop earlier. Those that lose their beginning are deleted as a whole."""
    cut = []
    for turn, last in db.rows("turns_ending_in", json_list(doomed)):
        if turn not in doomed:
            survivor = next(n for n in lookup.ancestors(db, last) if n not in doomed)
            db.run("cut_turn", survivor, turn)
            cut.append(CutTurn(turn, last, survivor))
    return cut


def _keep(db: Database, deleted: Deleted, now: int, reason: str) -> str:
    (id_,) = ids.mint_free(1, lambda wanted: taken(db, wanted))
    messages = [message.id for message in deleted.messages]
    sessions = [SESSION + session.key for session in deleted.sessions]
    add_entry(db, id_, now, column(reason), deleted, [id_, *messages, *sessions])
    return id_


def _without_used_key(db: Database, turn: TurnRow) -> TurnRow:
    """A turn without its idempotency key, if another one has been saved under it since."""
    key = turn.idempotency_key
    is_used = key is not None and db.row("turn_by_key", turn.session, key) is not None
    return turn._replace(idempotency_key=None) if is_used else turn


def _restore_session(db: Database, session: SessionRow) -> None:
    head = _head_of(db, session)
    db.run("insert_session_row", *session.without_lease()._replace(head=head, placed=head))
    # Before version 4 of the schema it counted uses; now it is a time.
    place(db, session.n, session.activity if session.activity >= session.created_at else session.updated_at)


def _move_back(db: Database, move: MovedHead, now: int) -> None:
    session = session_row(db, move.session)
    # Not if it was moved since, or a turn is open.
    if session and session.head == move.after and session.lease_turn is None and lookup.header(db, move.before):
        turns.move_head(db, session.n, move.before)
        changes.add(db, "moved", now, session.n, move.before)


def _head_of(db: Database, session: SessionRow) -> int | None:
    """The head of a restored session; None if that message was purged. Raises `Refused` if it is in the trash."""
    if session.head is None or lookup.header(db, session.head):
        return session.head
    if entry := _entry_with(db, session.head):
        raise Refused(
            f"The message where session {session.key!r} stood is in the trash too ({entry!r}); restore that first."
        )
    return None


def _check_parents(db: Database, messages: Iterable[MessageRow]) -> None:
    own = {message.n for message in messages}
    for message in messages:
        if message.parent is not None and message.parent not in own and lookup.header(db, message.parent) is None:
            entry = _entry_with(db, message.parent)
            where = f"is in the trash too, in {entry!r}; restore that first" if entry else "was deleted for good"
            raise Refused(f"The message before {message.id!r} {where}. Nothing was changed.")


def payloads(db: Database) -> Iterator[TrashContent]:
    """All entries with their payloads, a few in memory at a time."""
    last = 0
    while page := [TrashContent(*row) for row in db.rows("trash_payloads", last, PAGE)]:
        yield from page
        last = page[-1].n


def _entry_with(db: Database, number: int) -> str | None:
    """The id of the entry that holds a message."""
    for entry in payloads(db):
        if any(message.n == number for message in unpack(entry.payload).messages):
            return entry.id
    return None
