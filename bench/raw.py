"""The raw contestant: the same information as plain rows, written directly through apsw.

A row for each message with its first block, one for each further block, one for the turn, its reply and its change,
and the session's head, in the plainest tables that hold them and with the indexes that bough's promises need: ids and
session keys are unique, sessions are listed by last use. It uses bough's pragmas and waits for the disk once a turn.
It does not compress, hash, take leases or translate errors. Its rows are prepared before the clock starts, and what it
reads stays plain tuples.
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
MODEL, PROVIDER = "gpt-5", "openai"
USAGE = 1200, 400, 800, 0.0065
"""Input, output and cached tokens, and cost, of every reply."""

SCHEMA = """
CREATE TABLE messages (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent INTEGER, turn INTEGER, role TEXT NOT NULL,
    digest BLOB NOT NULL, created_at INTEGER NOT NULL,
    further INTEGER NOT NULL,
    type TEXT, modality TEXT, mime TEXT, call_id TEXT, name TEXT, content TEXT, packed BLOB) STRICT;
CREATE TABLE blocks (
    message INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT, modality TEXT, mime TEXT, call_id TEXT, name TEXT,
    content TEXT, packed BLOB, PRIMARY KEY (message, position)) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, channel TEXT, channel_id TEXT, directory TEXT, title TEXT,
    agent TEXT, model TEXT, head INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE INDEX sessions_recent ON sessions (updated_at);
CREATE TABLE turns (
    n INTEGER PRIMARY KEY, session INTEGER NOT NULL, parent INTEGER, last INTEGER NOT NULL, status TEXT NOT NULL,
    model TEXT, provider TEXT, started_at INTEGER NOT NULL, finished_at INTEGER) STRICT;
CREATE INDEX turns_session ON turns (session);
CREATE TABLE replies (
    message INTEGER PRIMARY KEY, turn INTEGER NOT NULL, session INTEGER NOT NULL, model TEXT, provider TEXT,
    input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, cost REAL, finished_at INTEGER) STRICT;
CREATE TABLE changes (n INTEGER PRIMARY KEY, at INTEGER, kind TEXT, session TEXT, message TEXT) STRICT
"""
SESSION = "SELECT n, head FROM sessions WHERE key = ?"
HIGHEST = "SELECT ifnull(max(n), 0) FROM messages"
INSERT_SESSION = "INSERT INTO sessions (key, head, created_at, updated_at) VALUES (?, ?, ?, ?)"
INSERT_MESSAGE = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_BLOCK = "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_TURN = "INSERT INTO turns VALUES (?, ?, ?, ?, 'complete', ?, ?, ?, ?)"
INSERT_REPLY = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
MOVE_HEAD = "UPDATE sessions SET head = ?, updated_at = ? WHERE n = ?"
INSERT_CHANGE = "INSERT INTO changes (at, kind, session, message) VALUES (?, 'added', ?, ?)"
PATH = """
WITH RECURSIVE walk (n, parent, further) AS (
    SELECT m.n, m.parent, m.further FROM sessions s CROSS JOIN messages m ON m.n = s.head WHERE s.key = ?
    UNION ALL SELECT m.n, m.parent, m.further FROM walk CROSS JOIN messages m ON m.n = walk.parent LIMIT ?
)
SELECT m.id, m.parent, m.role, m.created_at, 0, m.type, m.modality, m.mime, m.call_id, m.name, m.content, m.packed
FROM walk CROSS JOIN messages m ON m.n = walk.n
UNION ALL
SELECT NULL, b.message, NULL, NULL, b.position, b.type, b.modality, b.mime, b.call_id, b.name, b.content, b.packed
FROM walk CROSS JOIN blocks b ON b.message = walk.n WHERE walk.further > 0"""
RECENT = """
SELECT s.key, s.channel, s.channel_id, m.id, s.directory, s.title, s.agent, s.model, s.created_at, s.updated_at
FROM sessions s LEFT JOIN messages m ON m.n = s.head ORDER BY s.updated_at DESC LIMIT ?"""

PREVIEWS = """
WITH RECURSIVE shown AS MATERIALIZED (SELECT * FROM sessions ORDER BY updated_at DESC LIMIT ?),
walk (session, n, parent, turn, question) AS (
    SELECT s.n, m.n, m.parent, m.turn, CASE WHEN m.role = 'user' THEN m.n END
    FROM shown s CROSS JOIN messages m ON m.n = s.head
    UNION ALL SELECT walk.session, m.n, m.parent, m.turn, CASE WHEN m.role = 'user' THEN m.n END
    FROM walk CROSS JOIN messages m ON m.n = walk.parent
), dialogs AS MATERIALIZED (
    SELECT session, count(*) AS messages, count(DISTINCT turn) AS turns, min(question) AS question
    FROM walk GROUP BY session
), spent AS MATERIALIZED (
    SELECT t.session, sum(r.input_tokens) AS input, sum(r.output_tokens) AS output, sum(r.cached_tokens) AS cached,
           sum(r.cost) AS cost, max(t.n) AS newest
    FROM shown s CROSS JOIN turns t ON t.session = s.n LEFT JOIN replies r ON r.message = t.last GROUP BY t.session
)
SELECT s.key, s.channel, s.channel_id, s.directory, s.title, s.agent, s.model, s.created_at, s.updated_at,
       q.id, q.created_at, substr(q.content, 1, 240), h.id, h.role, h.created_at, substr(h.content, 1, 240),
       d.messages, d.turns, u.input, u.output, u.cached, u.cost, t.status, t.model
FROM shown s LEFT JOIN dialogs d ON d.session = s.n LEFT JOIN messages q ON q.n = d.question
LEFT JOIN messages h ON h.n = s.head LEFT JOIN spent u ON u.session = s.n LEFT JOIN turns t ON t.n = u.newest
ORDER BY s.updated_at DESC"""


class Raw:
    """A file with these tables, and apsw's prepared statements on them."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path), statementcachesize=200)
        self.connection.set_busy_timeout(PATIENCE_MS)
        self.connection.execute(PRAGMAS).fetchall()
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # as bough does: a plan is made once
        if not self.connection.pragma("user_version"):
            self.connection.execute(SCHEMA)
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
        rows, further, parent = [], [], head
        for n, (role, blocks) in enumerate(turn, first):
            rows.append((n, short_id(n), parent, first, role, DIGEST, now, len(blocks) - 1, *blocks[0][1:]))
            further += [(n, *block) for block in blocks[1:]]
            parent = n
        self.connection.executemany(INSERT_MESSAGE, rows)
        if further:
            self.connection.executemany(INSERT_BLOCK, further)
        last = first + len(turn) - 1
        run(INSERT_TURN, (first, session, head, last, MODEL, PROVIDER, now, now))
        run(INSERT_REPLY, (last, first, session, MODEL, PROVIDER, *USAGE, now))
        run(MOVE_HEAD, (last, now, session))
        run(INSERT_CHANGE, (now, key, short_id(last)))

    def path(self, key: str, last: int = -1) -> list[Row]:
        return self.connection.execute(PATH, (key, last)).fetchall()

    def recent(self, limit: int) -> list[Row]:
        return self.connection.execute(RECENT, (limit,)).fetchall()

    def previews(self, limit: int) -> list[Row]:
        """The recent sessions, each with the beginnings of its question and its last message, and its sums."""
        return self.connection.execute(PREVIEWS, (limit,)).fetchall()

    def close(self) -> None:
        self.connection.close()


def short_id(n: int) -> str:
    """Six characters, different for each number and spread like random ones."""
    return "%06x" % (n * 6_700_417 % 2**31)
