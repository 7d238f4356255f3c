"""Pins: messages and sessions that upkeep keeps, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Iterable

from bough.codec import json_list
from bough.db import Database
from bough.model import Pin
from bough.storage import changes, leases, lookup
from bough.storage.trash import session_row


def pin_message(db: Database, id: str, pinned: bool, now: int) -> None:
    """Pins a message, or takes its pin off. Raises `NotFound`."""
    n = lookup.number(db, id)
    if bool(pinned_among(db, [n])) == pinned:
        return
    db.run("insert_pin", n, now) if pinned else db.run("delete_pin", n)
    changes.add(db, "pinned", now, None, n)


def pin_session(db: Database, key: str, pinned: bool, now: int) -> None:
    """Pins a session, or takes its pin off. Raises `NotFound`."""
    session = leases.session_state(db, key).n
    row = session_row(db, session)
    if row is None or (row.pinned_at is not None) == pinned:
        return
    db.run("pin_session", now if pinned else None, session)
    changes.add(db, "pinned", now, session)


def all_pins(db: Database) -> list[Pin]:
    """The pinned messages, the one that was pinned last first."""
    return [Pin(id, at) for id, at in db.rows("pins") if id is not None]


def pinned_among(db: Database, messages: Iterable[int]) -> set[int]:
    """Those of some messages that are pinned."""
    return {n for (n,) in db.rows("pinned", json_list(messages))}
