"""Deleting, and bringing back.

A deletion takes whole subtrees out of the tables and keeps their rows, as they were, in one entry of the trash. Blobs
stay counted while an entry holds them. Restoring puts the rows back under the same ids and numbers.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from bough.codec import column, json_list, uncolumn
from bough.codec.encode import NOTHING
from bough.compress import compress, decompress
from bough.db import Database
from bough.errors import Conflict, Corrupt, NotFound, Refused
from bough.model import TrashEntry, ids
from bough.storage import lookup, turns
from bough.storage.messages import taken

MESSAGE_BLOB, BLOCK_BLOB = 22, 10
"""The places of a blob's number in the rows of messages and of blocks."""
SESSION = "session "
"""Before the key of a session among the names of the trash: keys and ids share one index."""


def delete(
    db: Database, doomed: list[int], now: int, reason: str,
    keep: bool = True, sessions: Iterable[int] = (), emptied: int | None = None,
) -> None:  # fmt: skip
    """Removes these messages, which no survivor may follow, and these sessions; `emptied` loses its head."""
    everything = json_list(doomed)
    _end_turns(db, everything, now)
    removed = [list(row) for n in sessions if (row := db.row("session_row", n))]
    moved = _move_heads(db, set(doomed), {row[0] for row in removed}, emptied, now)
    cut = _cut_turns(db, set(doomed))
    rows: dict[str, Any] = {
        "messages": db.rows("message_rows", everything),
        "blocks": db.rows("block_rows", everything),
        "turns": db.rows("turn_rows", everything),
        "externals": db.rows("external_rows", everything),
        "sessions": removed,
        "moved": moved,
        "cut": cut,
    }
    if not (doomed or removed or moved):
        return
    for session in removed:
        db.run("delete_session", session[0])
        db.run("keep_session_numbers", session[0])
    for statement in ("forget_externals", "delete_turns", "delete_blocks", "unindex", "delete_messages"):
        db.run(statement, everything)
    if doomed:
        db.run("keep_numbers", doomed[-1])
    if keep:
        _keep(db, rows, now, reason)
    else:
        _release(db, rows)


def entries(db: Database) -> list[TrashEntry]:
    """What is in the trash, the newest first."""
    found = []
    for n, id_, deleted_at, reason, count in db.rows("trash"):
        keys = tuple(name.removeprefix(SESSION) for (name,) in db.rows("trash_sessions", n))
        found.append(TrashEntry(id_, deleted_at, uncolumn(reason) or "", count, keys))
    return found


def find(db: Database, name: str) -> tuple[int, dict[str, Any]]:
    """The entry with this id, or the newest that holds this message or session."""
    if row := db.row("trash_entry", name):
        return row[0], read(row[1])
    for wanted in (name, SESSION + name):
        if row := db.row("trash_holding", wanted):
            return row[0], read(row[2])
    raise NotFound(f"Nothing in the trash is called {name!r}.")


def restore(db: Database, name: str, now: int) -> list[str]:
    """Puts an entry back; the ids of its messages, parents first."""
    entry, rows = find(db, name)
    _check_parents(db, rows)
    for row in rows["sessions"]:
        if db.row("session_number", row[1]):
            raise Conflict(
                f"There is a session {row[1]!r} again; rename or delete it, then restore. Nothing was changed."
            )
    for turn in rows["turns"]:
        if turn[2] is not None and db.row("turn_by_key", turn[1], turn[2]):
            turn[2] = None  # the turn was said again in the meantime, under the same key
    for statement, kind in (("insert_message", "messages"), ("insert_block", "blocks"), ("insert_turn", "turns"),
                            ("restore_external", "externals")):  # fmt: skip
        db.run_many(statement, rows[kind])
    for row in rows["sessions"]:
        row[5] = _place_of(db, row[1], row[5])
        db.run("restore_session", *row[:7], *row[8:14], *row[17:])
    for turn, before, after in rows["cut"]:
        span = db.row("turn_span", turn)
        if span and span[0] == after and span[2] != "running":
            db.run("cut_turn", before, turn)
    for session, before, after in rows["moved"]:
        current = db.row("session_row", session)
        # Not if somebody has moved it since, or is about to.
        if current and current[5] == after and current[14] is None and db.row("step", before):
            turns.move_head(db, session, before, now)
    if rows["messages"]:
        db.run("index_again", rows["messages"][0][0])
    db.run("delete_trash", entry)
    return [row[1] for row in rows["messages"]]


def purge(db: Database, before: int) -> int:
    """Removes for good what was deleted before a moment; says how many entries that were."""
    old = db.rows("trash_before", before)
    for n, payload in old:
        forget(db, n, payload)
    return len(old)


def forget(db: Database, n: int, payload: bytes) -> None:
    """Removes one entry for good."""
    with suppress(Corrupt):  # what it held is not known any more; verify() counts again
        _release(db, read(payload))
    db.run("delete_trash", n)


def payload_blobs(payload: bytes) -> dict[int, int]:
    """How often a payload holds each blob. Raises `Corrupt` when it cannot be read."""
    return blobs(read(payload))


def blobs(rows: dict[str, Any]) -> dict[int, int]:
    """How often the rows of an entry hold each blob."""
    held = [row[MESSAGE_BLOB] for row in rows["messages"]] + [row[BLOCK_BLOB] for row in rows["blocks"]]
    return Counter(n for n in held if n is not None)


def _end_turns(db: Database, everything: str, now: int) -> None:
    """A turn whose writer went away is put aside; one that is being written is not deleted."""
    for *turn, key in db.rows("running_turns_in", everything):
        if not turns.is_abandoned(tuple(turn), now):
            raise Refused(f"Session {key!r} is in the middle of a turn there; nothing was deleted.")
        db.run("drop_sketch", turn[0])  # it would have followed what is being deleted
        turns.interrupt_abandoned(db, tuple(turn), now)


def _move_heads(db: Database, doomed: set[int], removed: set[int], emptied: int | None, now: int) -> list[list[Any]]:
    """Moves the sessions that stand inside to the nearest survivor: (session, head before, head after)."""
    moved = []
    for session, head in db.rows("sessions_at", json_list(doomed), emptied):
        if session not in removed and head is not None:
            above = () if session == emptied else lookup.ancestors(db, head)
            survivor = next((n for n in above if n not in doomed), None)
            turns.move_head(db, session, survivor, now)
            moved.append([session, head, survivor])
    return moved


def _cut_turns(db: Database, doomed: set[int]) -> list[list[int]]:
    """A turn that loses its end ends earlier: (turn, end before, end after). One that loses its beginning goes."""
    cut = []
    for turn, last in db.rows("turns_ending_in", json_list(doomed)):
        if turn not in doomed:
            survivor = next(n for n in lookup.ancestors(db, last) if n not in doomed)
            db.run("cut_turn", survivor, turn)
            cut.append([turn, last, survivor])
    return cut


def _keep(db: Database, rows: dict[str, Any], now: int, reason: str) -> None:
    (name,) = ids.mint_free(1, lambda wanted: taken(db, wanted))
    inserted = db.row("insert_trash", name, now, column(reason), len(rows["messages"]), write(rows))
    assert inserted is not None
    inside = [name, *(row[1] for row in rows["messages"]), *(SESSION + row[1] for row in rows["sessions"])]
    db.run_many("insert_trash_name", [(one, inserted[0]) for one in inside])


def _release(db: Database, rows: dict[str, Any]) -> None:
    db.run_many("release_blob", [(count, n) for n, count in blobs(rows).items()])
    db.run("sweep_blob_bytes")
    db.run("sweep_blobs")


def _place_of(db: Database, key: str, head: int | None) -> int | None:
    """Where a session stands when it comes back; nowhere, if that message was purged."""
    if head is None or db.row("step", head):
        return head
    for id_, payload in db.rows("trash_payloads"):
        if any(message[0] == head for message in read(payload)["messages"]):
            raise Refused(f"The message where session {key!r} stood is in the trash too ({id_!r}); restore that first.")
    return None


def _check_parents(db: Database, rows: dict[str, Any]) -> None:
    own = {row[0] for row in rows["messages"]}
    for row in rows["messages"]:
        if row[2] is not None and row[2] not in own and db.row("step", row[2]) is None:
            raise Refused(
                f"The message before {row[1]!r} is in the trash too; restore that first. Nothing was changed."
            )


def write(rows: dict[str, Any]) -> bytes:
    """The rows of an entry as its payload."""

    def plain(value: object) -> object:
        if isinstance(value, bytes):
            return {"$bytes": b2a_base64(value, newline=False).decode()}
        raise TypeError(type(value))

    return compress(json.dumps(rows, default=plain).encode())


def read(payload: bytes) -> dict[str, Any]:
    """The rows of an entry. Raises `Corrupt`."""

    def hook(value: dict[str, Any]) -> Any:
        return a2b_base64(value["$bytes"]) if "$bytes" in value else value

    try:
        rows: dict[str, Any] = json.loads(decompress(payload), object_hook=hook)
    except (ValueError, TypeError) as problem:
        raise Corrupt(
            f"This entry of the trash is damaged: {problem}. It cannot be restored; a purge removes it."
        ) from None
    return _with_first_blocks(rows)


def _with_first_blocks(rows: dict[str, Any]) -> dict[str, Any]:
    """Rows of today. In an entry of the first schema, the first block of a message is not in its row yet."""
    if not rows["messages"] or len(rows["messages"][0]) > MESSAGE_BLOB:
        return rows
    firsts = {row[0]: row[3:] for row in rows["blocks"] if row[1] == 0}
    rows["blocks"] = [row for row in rows["blocks"] if row[1] > 0]
    further = Counter(row[0] for row in rows["blocks"])
    rows["messages"] = [[*row[:3], further[row[0]], *row[3:], *firsts.get(row[0], NOTHING)] for row in rows["messages"]]
    return rows
