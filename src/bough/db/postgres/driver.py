"""PostgreSQL, through psycopg: many writers, many namespaces, on one machine or many.

A writer holds the row of its namespace in `state` until it commits, so that numbers are given out in order, as SQLite's
single writer does. Namespaces do not wait for one another.
"""

from __future__ import annotations

import os
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import psycopg

from bough.db import NAMESPACE, PATIENCE, Row, StrPath, Value, fork_safety
from bough.db.postgres import fulltext
from bough.db.postgres.errors import is_lost
from bough.db.postgres.pool import Connection
from bough.db.postgres.schema import TABLES, is_distributed, migrate
from bough.db.postgres.server import Server, namespace_in
from bough.db.postgres.transaction import WRITE, Snapshot, Transaction
from bough.errors import Busy, Invalid, Refused, StorageError

T = TypeVar("T")

CONNECTIONS = 16
WINDOW = 4_194_304
ENOUGH = 1000
"""After so many rows the statistics are made anew, then after ten times as many, and so on."""
TOKEN = 8
"""Characters of what a writer leaves in the column `recent`, which remembers the last 64."""
CHECK = """
    SELECT 'the index ' || indexrelid::regclass || ' is not valid; REINDEX it' FROM pg_index
    JOIN pg_class ON pg_class.oid = indrelid WHERE relnamespace = 'bough'::regnamespace AND NOT indisvalid
    UNION ALL SELECT checksum_failures || ' pages had a wrong checksum' FROM pg_stat_database
    WHERE datname = current_database() AND checksum_failures > 0
"""
left_behind: list[Server] = []
"""The connections of a parent process, in its children: kept, so that nothing closes them."""


class PostgreSQL:
    """A namespace of a database on a server. Thread-safe; it outlives the loss of its connections."""

    read_only = False
    shared = True

    def __init__(
        self,
        url: str,
        *,
        namespace: str | None = None,
        patience: float = PATIENCE,
        connections: int = CONNECTIONS,
        migrations: StrPath | None = None,
    ) -> None:
        self.namespace = checked(namespace, url)
        self.patience = patience
        self.concurrency = connections
        self._local = threading.local()
        self._gate = threading.Lock()
        self._inherited = False
        self._written, self._enough = 0, ENOUGH
        self._server = Server(url, connections, patience)
        self._connect(migrations)
        fork_safety.watch(self)

    def _connect(self, migrations: StrPath | None) -> None:
        with self._server.translated(), self._server.pool.connection() as connection:
            migrate(connection, self._server.name, migrations)
            self._server.is_distributed = is_distributed(connection)
            if not self._on(connection).alone("search_state"):  # making it again would wait for whoever is writing
                self._on(connection).alone("make_namespace")

    # The verbs ------------------------------------------------------------------------------------------------------

    def rows(self, name: str, *params: Value) -> list[Row]:
        held = self._held()
        if held is not None:
            return held.fetch(name, *params)
        with self._server.translated():
            return self._server.persist(lambda: self._alone(name, *params))

    def row(self, name: str, *params: Value) -> Row | None:
        found = self.rows(name, *params)
        return found[0] if found else None

    def run(self, name: str, *params: Value) -> None:
        self._writing().send(name, *params)

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        self._written += self._writing().send_many(name, params)

    def rows_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        return self._writing().fetch_many(name, params)

    # Transactions ---------------------------------------------------------------------------------------------------

    def transact(self, work: Callable[[], T]) -> T:
        with self._server.translated():
            result = self._server.persist(lambda: self._write(work))
        if self._written >= self._enough:
            self._look_around()
        return result

    def _look_around(self) -> None:
        """Lets the planner see how much there is now: a plan for an empty database is no good for a full one."""
        self._enough *= 10
        with suppress(psycopg.Error, Busy, Refused), self._server.pool.connection() as connection:
            connection.execute("ANALYZE " + ", ".join(f"bough.{table}" for table in TABLES))

    def _write(self, work: Callable[[], T]) -> T:
        """One try. It fails with an error that passes only if the server has certainly kept nothing of it."""
        token = b64encode(os.urandom(TOKEN * 3 // 4)).decode()
        with self._queueing(), self._server.pool.connection() as connection:
            transaction = self._on(connection)
            try:
                with self._holding(transaction), transaction.begun(WRITE):
                    queue = transaction.send("queue", token)
                    result = work()
                    place = queue.fetchone()
                    if place is None:
                        raise StorageError(f"The namespace {self.namespace!r} was removed; connect again.")
                return result
            except psycopg.Error as error:
                if not transaction.is_committing or not is_lost(error):
                    raise
                lost = error
        assert place is not None
        if self._was_kept(token, place[0]):
            return result
        raise lost

    @contextmanager
    def _queueing(self) -> Iterator[None]:
        """The threads of a store queue here, one of them on the server: sixteen there do a third less than one."""
        if not self._gate.acquire(timeout=self.patience):
            raise Busy(f"Others kept writing for {self.patience:g} seconds; nothing was written. Try again.")
        try:
            yield
        finally:
            self._gate.release()

    def _was_kept(self, token: str, place: int) -> bool:
        """Whether a write was kept whose commit was not heard of: if so, the server remembers its token."""
        unknown = StorageError(
            f"{self._server.name} went away in the middle of a commit, and whether that was kept is not known. "
            "Look, or say it again with the same idempotency key."
        )
        try:
            ((writes, recent),) = self._server.persist(lambda: self._alone("evidence"))
        except psycopg.Error:
            raise unknown from None
        if token in (recent[at : at + TOKEN] for at in range(0, len(recent), TOKEN)):
            return True
        if writes - place >= len(recent) // TOKEN > 0:  # so many came later that it may have been forgotten
            raise unknown
        return False

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._held() is not None:
            yield
            return
        snapshot = Snapshot(self._server, self.namespace)
        with self._server.translated(), snapshot, self._holding(snapshot):
            yield

    @contextmanager
    def _holding(self, transaction: Transaction | Snapshot) -> Iterator[None]:
        self._local.held = transaction
        try:
            yield
        finally:
            self._local.held = None

    def _held(self) -> Transaction | Snapshot | None:
        """The transaction that this thread is in."""
        if self._inherited:
            raise Refused("This process was forked in the middle of a transaction; it cannot use the store.")
        return getattr(self._local, "held", None)

    def _writing(self) -> Transaction:
        held = self._held()
        if not isinstance(held, Transaction):
            raise Refused("That changes the store, and nothing is being written; nothing was changed.")
        return held

    def _alone(self, name: str, *params: Value) -> list[Row]:
        with self._server.pool.connection() as connection:
            return self._on(connection).alone(name, *params)

    def _on(self, connection: Connection) -> Transaction:
        return Transaction(connection, self.namespace, self._server)

    # The server -----------------------------------------------------------------------------------------------------

    def blob_chunks(self, n: int, size: int) -> Iterator[bytes]:
        offset = 0
        while row := self.row("blob_window", n, offset + 1, WINDOW):
            for start in range(0, len(row[0]), size):
                yield row[0][start : start + size]
            offset += len(row[0])
            if len(row[0]) < WINDOW:
                return

    def words(self, text: str) -> str:
        return fulltext.vector(text)

    def query(self, text: str) -> str:
        return fulltext.query(text)

    def check(self) -> list[str]:
        with self._server.translated():
            return self._server.persist(self._check)

    def _check(self) -> list[str]:
        with self._server.pool.connection() as connection:
            return [found for (found,) in connection.execute(CHECK)]

    def backup(self, target: StrPath) -> None:
        raise Refused(
            f"{self._server.name} is backed up on its server, with pg_dump or pg_basebackup; "
            f"a copy in a file is made by `bough db copy`. {os.fspath(target)!r} was not written."
        )

    def vacuum(self) -> None:
        """Lets the server use the space of what was deleted again."""
        with self._server.translated(), self._server.pool.connection() as connection:
            for table in TABLES:
                connection.execute(f"VACUUM (ANALYZE) bough.{table}")

    def close(self) -> None:
        self._server.pool.close()

    def before_fork(self) -> None:
        pass  # the parent goes on with its connections

    def after_fork(self, child: bool) -> None:
        if child:  # what is inherited is the parent's; closing it would close the parent's
            self._inherited = self._held() is not None
            left_behind.append(self._server)
            self._gate = threading.Lock()
            self._server = self._server.anew()


def checked(namespace: str | None, url: str) -> str:
    """The namespace that is meant, by an argument or by the URL. Raises `Invalid`."""
    named = namespace_in(url)
    if namespace not in (None, NAMESPACE, named) and named is not None:
        raise Invalid(f"The URL names the namespace {named!r}, and {namespace!r} was asked for.")
    meant = NAMESPACE if named is None and namespace is None else named if named is not None else str(namespace)
    if not 0 < len(meant) <= 200 or not meant.isprintable():
        raise Invalid(f"A namespace is a short plain text, not {meant!r:.60}.")
    return meant
