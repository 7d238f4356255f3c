"""The raw contestant on a server: the same content written directly through psycopg, into bough's own tables.

As `raw` does for SQLite: a row for each message and one for each of its blocks; no compression, no hashing, no leases;
rows prepared before the clock starts, tuples read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import psycopg

from bench.raw import DIGEST, MODEL, PROVIDER, USAGE, RawMessage, Row, short_id

NAMESPACE = "raw"
BLOCKS = """
CREATE SCHEMA IF NOT EXISTS raw;
CREATE TABLE IF NOT EXISTS raw.blocks (
    namespace text COLLATE "C" NOT NULL, message bigint NOT NULL, position integer NOT NULL, type text NOT NULL,
    modality text, mime text, call_id text, name text, content text, packed bytea,
    PRIMARY KEY (namespace, message, position),
    FOREIGN KEY (namespace, message) REFERENCES bough.messages (namespace, n)
)"""
SESSION = "SELECT n, head FROM bough.sessions WHERE namespace = $1 AND key = $2 FOR UPDATE"
HIGHEST = "SELECT coalesce(max(n), 0) FROM bough.messages WHERE namespace = $1"
INSERT_SESSION = """
INSERT INTO bough.sessions (namespace, n, key, revision, activity, created_at, updated_at)
SELECT $1, coalesce(max(n), 0) + 1, $2, 0, coalesce(max(activity), 0) + 1, $3, $3
FROM bough.sessions WHERE namespace = $1"""
INSERT_MESSAGE = """
INSERT INTO bough.messages (namespace, n, id, parent, turn, role, error, digest, created_at)
VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8)"""
INSERT_BLOCK = """
INSERT INTO raw.blocks (namespace, message, position, type, modality, mime, call_id, name, content, packed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
INSERT_TURN = """
INSERT INTO bough.turns (namespace, n, session, parent, last, status, started_at, finished_at)
VALUES ($1, $2, $3, $4, $5, 'complete', $6, $6)"""
INSERT_REPLY = """
INSERT INTO bough.replies (
    namespace, message, turn, session, model, provider, input_tokens, output_tokens, cached_tokens, cost, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"""
MOVE_HEAD = """
UPDATE bough.sessions SET head = $2, revision = revision + 1, updated_at = $3,
       activity = (SELECT max(activity) + 1 FROM bough.sessions WHERE namespace = $1)
WHERE namespace = $1 AND n = $4"""
INSERT_CHANGE = """
INSERT INTO bough.changes (namespace, n, at, kind, session, message)
SELECT $1, coalesce(max(n), 0) + 1, $2, 'added', $3, $4 FROM bough.changes WHERE namespace = $1"""
PATH = """
WITH RECURSIVE walk (n) AS (
    SELECT head FROM bough.sessions WHERE namespace = $1 AND key = $2
    UNION ALL
    SELECT m.parent FROM walk JOIN bough.messages m ON m.namespace = $1 AND m.n = walk.n WHERE m.parent IS NOT NULL
)
SELECT m.id, m.parent, m.role, m.created_at, b.position, b.type, b.modality, b.mime, b.call_id, b.name,
       b.content, b.packed
FROM walk JOIN bough.messages m ON m.namespace = $1 AND m.n = walk.n
JOIN raw.blocks b ON b.namespace = $1 AND b.message = m.n ORDER BY m.n DESC, b.position"""


class RawServer:
    """One connection, and statements that psycopg prepares when they are used often."""

    def __init__(self, url: str) -> None:
        self.connection: psycopg.Connection[Row] = psycopg.connect(
            url, autocommit=True, cursor_factory=psycopg.RawCursor
        )
        self.connection.execute(BLOCKS)

    def session(self, key: str) -> None:
        self._run(INSERT_SESSION, key, time.time_ns() // 1000)

    def append(self, key: str, turn: list[RawMessage]) -> None:
        """A turn in one transaction, in a pipeline: it waits twice, for what it reads and for the commit."""
        with self.connection.pipeline() as pipeline:
            self.connection.execute("BEGIN")
            self._insert(key, turn, pipeline)
            self.connection.execute("COMMIT")

    def load(self, key: str, talk: Sequence[list[RawMessage]]) -> None:
        """A whole conversation in one transaction."""
        with self.connection.transaction():
            for turn in talk:
                self._insert(key, turn)

    def path(self, key: str) -> list[Row]:
        return self.connection.cursor(binary=True).execute(PATH, (NAMESPACE, key)).fetchall()

    def close(self) -> None:
        self.connection.close()

    def _insert(self, key: str, turn: list[RawMessage], pipeline: psycopg.Pipeline | None = None) -> None:
        found, numbers = self._run(SESSION, key), self._run(HIGHEST)
        if pipeline is not None:
            pipeline.sync()
        ((session, head),), ((highest,),) = found.fetchall(), numbers.fetchall()
        first, now = highest + 1, time.time_ns() // 1000
        last = highest + len(turn)
        parents = [head, *range(first, last)]
        cursor = self.connection.cursor()
        cursor.executemany(
            INSERT_MESSAGE,
            [
                (NAMESPACE, n, short_id(n), parent, first, role, DIGEST, now)
                for n, parent, (role, _) in zip(range(first, last + 1), parents, turn, strict=True)
            ],
        )
        cursor.executemany(
            INSERT_BLOCK, [(NAMESPACE, n, *block) for n, (_, blocks) in enumerate(turn, first) for block in blocks]
        )
        self._run(INSERT_TURN, first, session, head, last, now)
        self._run(INSERT_REPLY, last, first, session, MODEL, PROVIDER, *USAGE, now)
        self._run(MOVE_HEAD, last, now, session)
        self._run(INSERT_CHANGE, now, key, short_id(last))

    def _run(self, statement: str, *params: Any) -> psycopg.Cursor[Row]:
        return self.connection.execute(statement, (NAMESPACE, *params))
