"""The raw contestant: the same rows written directly through apsw.

It uses bough's pragmas and the tables that bough began with, a row for each message and one for each of its blocks,
and stores what bough stores (messages, blocks, turns, the session's head, the change), but with the content in the row
as it is: no compression, no hashing, no leases, no errors translated. Its rows are prepared before the clock starts,
and what it reads stays plain tuples.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import apsw

Row: TypeAlias = tuple[Any, ...]
RawMessage: TypeAlias = tuple[str, list[Row]]
"""A role, and blocks: position, type, modality, mime, call_id, name, text, bytes."""

PRAGMAS = """
PRAGMA page_size=4096; PRAGMA journal_mode=wal; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864;
PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=FAST;
PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000
"""
PATIENCE_MS = 30_000
DIGEST = bytes(16)

SESSION = "SELECT n, head FROM sessions WHERE key = ?"
HIGHEST = "SELECT ifnull(max(n), 0) FROM messages"
INSERT_SESSION = """
INSERT INTO sessions (key, head, revision, activity, created_at, updated_at)
VALUES (?, ?, 0, (SELECT ifnull(max(activity), 0) + 1 FROM sessions), ?, ?)"""
INSERT_MESSAGE = (
    "INSERT INTO messages (n, id, parent, turn, role, error, digest, created_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?)"
)
INSERT_BLOCK = """
INSERT INTO blocks (message, position, type, modality, mime, call_id, name, content, packed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_TURN = """
INSERT INTO turns (n, session, parent, last, status, started_at, finished_at) VALUES (?, ?, ?, ?, 'complete', ?, ?)"""
MOVE_HEAD = """
UPDATE sessions SET head = ?, revision = revision + 1, updated_at = ?,
                    activity = (SELECT max(activity) + 1 FROM sessions) WHERE n = ?"""
CHANGES = "CREATE TABLE changes (n INTEGER PRIMARY KEY, at INTEGER, kind TEXT, session TEXT, message TEXT) STRICT"
INSERT_CHANGE = "INSERT INTO changes (at, kind, session, message) VALUES (?, 'added', ?, ?)"
PATH = """
WITH RECURSIVE walk (n) AS (
    SELECT head FROM sessions WHERE key = ?
    UNION ALL SELECT m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent IS NOT NULL LIMIT ?
)
SELECT m.id, m.parent, m.role, m.created_at, b.position, b.type, b.modality, b.mime, b.call_id, b.name,
       b.content, b.packed
FROM walk CROSS JOIN messages m ON m.n = walk.n JOIN blocks b ON b.message = m.n"""
RECENT = """
SELECT s.key, s.channel, s.channel_id, m.id, s.directory, s.title, s.agent, s.model, s.created_at, s.updated_at
FROM sessions s LEFT JOIN messages m ON m.n = s.head ORDER BY s.activity DESC LIMIT ?"""


class Raw:
    """A file with bough's tables, and apsw's prepared statements on them."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path), statementcachesize=200)
        self.connection.set_busy_timeout(PATIENCE_MS)
        self.connection.execute(PRAGMAS).fetchall()
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # as bough does: a plan is made once
        if not self.connection.pragma("user_version"):
            self.connection.execute(first_schema() + CHANGES)
            self.connection.pragma("user_version", 1)

    def session(self, key: str, head: int | None = None) -> None:
        """Insert a session: one row in one transaction."""
        now = time.time_ns() // 1000
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute(INSERT_SESSION, (key, head, now, now))
        self.connection.execute("COMMIT")

    def append(self, key: str, turn: list[RawMessage]) -> None:
        """A turn in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        self._insert(key, turn)
        self.connection.execute("COMMIT")

    def load(self, key: str, talk: Sequence[list[RawMessage]]) -> None:
        """A whole conversation in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        for turn in talk:
            self._insert(key, turn)
        self.connection.execute("COMMIT")

    def _insert(self, key: str, turn: list[RawMessage]) -> None:
        run = self.connection.execute
        ((session, head),) = run(SESSION, (key,))
        ((highest,),) = run(HIGHEST)
        first = highest + 1
        now = time.time_ns() // 1000
        parents = [head, *range(first, first + len(turn) - 1)]
        self.connection.executemany(
            INSERT_MESSAGE,
            [
                (n, short_id(n), parent, first, role, DIGEST, now)
                for n, parent, (role, _) in zip(range(first, first + len(turn)), parents, turn, strict=True)
            ],
        )
        self.connection.executemany(
            INSERT_BLOCK, [(n, *block) for n, (_, blocks) in enumerate(turn, first) for block in blocks]
        )
        last = first + len(turn) - 1
        run(INSERT_TURN, (first, session, head, last, now, now))
        run(MOVE_HEAD, (last, now, session))
        run(INSERT_CHANGE, (now, key, short_id(last)))

    def path(self, key: str, last: int = -1) -> list[Row]:
        return self.connection.execute(PATH, (key, last)).fetchall()

    def recent(self, limit: int) -> list[Row]:
        return self.connection.execute(RECENT, (limit,)).fetchall()

    def close(self) -> None:
        self.connection.close()


def first_schema() -> str:
    """The tables of bough's first schema, so that the measure stays the same when bough's tables change."""
    from importlib.resources import files  # this and bough itself are heavy, and only a new file needs them

    return (files("bough.db") / "schema" / "migrations" / "0001-initial.sqlite.sql").read_text("utf-8")


def short_id(n: int) -> str:
    """Six characters, different for each number and spread like random ones."""
    return "%06x" % (n * 6_700_417 % 2**31)
