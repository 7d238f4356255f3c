"""Counts the work of verbs on a file: statements, steps of SQLite's virtual machine, pages and transactions.

Counts do not depend on the load of the machine, so that a test can compare a small store with a large one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

from bough import Store
from bough.db.sqlite.driver import SQLite


@dataclass
class Work:
    """What was done while it was counted."""

    statements: int = 0
    steps: int = 0
    pages: int = 0
    """Pages that were looked up, in the cache or in the file."""
    transactions: list[Work] = field(default_factory=list)
    """The write transactions."""

    @property
    def longest(self) -> Work:
        """The write transaction with the most steps."""
        return max(self.transactions, key=lambda one: one.steps)


@contextmanager
def counted(store: Store) -> Iterator[Work]:
    """Counts what a store does on its file."""
    db = store.db
    assert isinstance(db, SQLite)
    connection = db._connection or db._open()
    whole = Work()
    open_: list[tuple[Work, int]] = []

    def pages() -> int:
        kinds = apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS
        return sum(connection.status(kind)[0] for kind in kinds)

    def ran(event: dict[str, Any]) -> None:
        sql = event["sql"]
        if "'main'.'search_" in sql or sql == "PRAGMA 'main'.data_version":
            return  # of FTS5: what it counts began with the first transaction; the pages are counted like others
        steps = event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
        if sql == "BEGIN IMMEDIATE":
            open_.append((Work(), pages()))
        for work in (whole, *(work for work, _ in open_)):
            work.statements += 1
            work.steps += steps
        if sql in ("COMMIT", "ROLLBACK") and open_:
            work, before = open_.pop()
            work.pages = pages() - before
            whole.transactions.append(work)

    before = pages()
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, ran, id="counted")
    try:
        yield whole
    finally:
        connection.trace_v2(0, None, id="counted")
        whole.pages = pages() - before
