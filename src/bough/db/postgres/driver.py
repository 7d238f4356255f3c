"""The PostgreSQL driver: a namespace of a database, through psycopg.

A writer holds the row of its namespace in `state` until it commits, so that numbers are given out in order, as SQLite's
single writer does. Namespaces do not wait for one another.
"""

from __future__ import annotations

import os
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import psycopg

from bough.db import NAMESPACE, PATIENCE, Row, Selected, StrPath, Value, fork_safety
from bough.db.postgres import cluster, fulltext
from bough.db.postgres.errors import is_in_doubt
from bough.db.postgres.naming import TABLES
from bough.db.postgres.pool import Connection
from bough.db.postgres.schema import migrate
from bough.db.postgres.server import PostgresServer, own_options
from bough.db.postgres.transaction import WRITE, Snapshot, Transaction
from bough.errors import Busy, Invalid, Refused, StorageError

T = TypeVar("T")

CONNECTIONS = 16
"""Default size of the pool. A server accepts 100 connections by default, of all its clients."""
WINDOW = 4_194_304
"""Bytes of a blob per round trip: a long one is never in memory as a whole."""
ANALYZE_AFTER = 1000
"""Rows written by a connection before the first ANALYZE. The next ones follow after ten times as many each."""
TOKEN = 8
"""Length of the token of a write. The column `recent` holds the last 64."""
CHECK = """
    SELECT 'the index ' || indexrelid::regclass || ' is not valid; REINDEX it' FROM pg_index
    JOIN pg_class ON pg_class.oid = indrelid WHERE relnamespace = 'bough'::regnamespace AND NOT indisvalid
    UNION ALL SELECT checksum_failures || ' pages had a wrong checksum' FROM pg_stat_database
    WHERE datname = current_database() AND checksum_failures > 0
"""
inherited_servers: list[PostgresServer] = []
"""Connections inherited from a parent process. A reference is kept so that they are never closed here."""


class PostgreSQL:
    """A namespace of a database on a server. Thread-safe; lost connections are replaced."""

    shared = index_has_keys = True

    def __init__(
        self,
        url: str,
        *,
        namespace: str | None = None,
        patience: float = PATIENCE,
        connections: int = CONNECTIONS,
        migrations: StrPath | None = None,
    ) -> None:
        self.namespace = check_namespace(namespace, url)
        self.patience = patience
        self.concurrency = connections
        self._local = threading.local()
        self._write_lock = threading.Lock()
        self._inherited = False
        self._written, self._analyze_after = 0, ANALYZE_AFTER
        self._server = PostgresServer(url, connections, patience)
        self._connect(migrations)
        fork_safety.register(self)

    def _connect(self, migrations: StrPath | None) -> None:
        with self._server.translate_errors(), self._server.pool.connection() as connection:
            migrate(connection, self._server.name, migrations, self.patience)
            self._server.is_distributed = cluster.is_distributed(connection)
            ((durability,),) = connection.execute("SHOW synchronous_commit").fetchall()
            self._server.durability = "on" if durability == "off" else durability
            transaction = self._transaction(connection)
            if not transaction.run_alone("search_state"):  # creating it again would wait for the current writer
                transaction.run_alone("make_namespace")
                if not transaction.run_alone("search_state"):
                    raise Refused(f"{self._server.name} does not let this role use the namespace {self.namespace!r}.")

    @property
    def read_only(self) -> bool:
        """Whether the server takes no writes, as a standby does not."""
        return self._server.read_only

    # The verbs ------------------------------------------------------------------------------------------------------

    def rows(self, name: str, *params: Value) -> list[Row]:
        current = self._current()
        if current is not None:
            return current.fetch(name, *params)
        with self._server.translate_errors():
            return self._server.retry(lambda: self._run_alone(name, *params))

    def row(self, name: str, *params: Value) -> Row | None:
        found = self.rows(name, *params)
        return found[0] if found else None

    def run(self, name: str, *params: Value) -> None:
        self._current_write().send(name, *params)

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        self._written += self._current_write().send_many(name, params)

    def rows_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        return self._current_write().fetch_many(name, params)

    # Transactions ---------------------------------------------------------------------------------------------------

    def transact(self, work: Callable[[], T]) -> T:
        with self._server.translate_errors():
            result = self._server.retry(lambda: self._write(work))
        if self._written >= self._analyze_after:
            self._analyze()
        return result

    def _analyze(self) -> None:
        """Updates the statistics of the planner: a plan for an empty database is no good for a full one."""
        self._analyze_after *= 10
        # The write is committed: missing statistics make queries slower, and are no error.
        with suppress(psycopg.Error, Busy, Refused), self._server.pool.connection() as connection:
            connection.run("ANALYZE " + ", ".join(f"bough.{table}" for table in TABLES))

    def _write(self, work: Callable[[], T]) -> T:
        """One attempt. It raises a transient error only if the server has certainly kept nothing of it."""
        token = b64encode(os.urandom(TOKEN * 3 // 4)).decode()
        with self._one_writer(), self._server.pool.connection() as connection:
            transaction = self._transaction(connection)
            try:
                with self._in_transaction(transaction), transaction.begin(WRITE):
                    queue = transaction.send("queue", token)
                    result = work()
                    row = queue.fetchone()  # only now: before the work it would cost a round trip of its own
                    if row is None:
                        raise StorageError(f"The namespace {self.namespace!r} was removed; connect again.")
                return result
            except psycopg.Error as error:
                if not transaction.is_committing or not is_in_doubt(error):
                    raise
                lost = error
        assert row is not None
        if self._was_committed(token, *row):
            return result
        raise lost

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        """Lets one thread of this store write at a time: sixteen that queue on the server do a third less than one."""
        if not self._write_lock.acquire(timeout=self.patience):
            raise Busy(f"Others kept writing for {self.patience:g} seconds; nothing was written. Try again.")
        try:
            yield
        finally:
            self._write_lock.release()

    def _was_committed(self, token: str, count: int) -> bool:
        """Whether a write was committed whose acknowledgement was lost: then its token is in `recent`."""
        unknown = StorageError(
            f"{self._server.name} went away in the middle of a commit, and whether that was kept is not known. "
            "Check what is stored, or repeat the call with the same idempotency key."
        )
        try:
            ((writes, recent),) = self._server.retry(lambda: self._run_alone("evidence"))
        except psycopg.Error:
            raise unknown from None
        if token in (recent[at : at + TOKEN] for at in range(0, len(recent), TOKEN)):
            return True
        if writes - count >= len(recent) // TOKEN > 0:  # the later writes may have displaced the token
            raise unknown
        return False

    def version(self) -> int | None:
        ((newest,),) = self.rows("newest_change")
        return newest  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._current() is not None:
            yield
            return
        snapshot = Snapshot(self._server, self.namespace)
        with self._server.translate_errors(), snapshot, self._in_transaction(snapshot):
            yield

    @contextmanager
    def _in_transaction(self, transaction: Transaction | Snapshot) -> Iterator[None]:
        self._local.current = transaction
        try:
            yield
        finally:
            self._local.current = None

    def _current(self) -> Transaction | Snapshot | None:
        """The transaction of this thread, if it is in one."""
        if self._inherited:
            raise Refused("This process was forked in the middle of a transaction; it cannot use the store.")
        return getattr(self._local, "current", None)

    def _current_write(self) -> Transaction:
        current = self._current()
        if not isinstance(current, Transaction):
            raise Refused("That changes the store, and nothing is being written; nothing was changed.")
        return current

    def _run_alone(self, name: str, *params: Value) -> list[Row]:
        with self._server.pool.connection() as connection:
            return self._transaction(connection).run_alone(name, *params)

    def _transaction(self, connection: Connection) -> Transaction:
        return Transaction(connection, self.namespace, self._server)

    # The server -----------------------------------------------------------------------------------------------------

    def blob_chunks(self, n: int, size: int) -> Iterator[bytes]:
        offset = 0
        while row := self.row("blob_window", n, offset + 1, WINDOW):
            (window,) = row
            for start in range(0, len(window), size):
                yield window[start : start + size]
            offset += len(window)
            if len(window) < WINDOW:
                return

    def words(self, text: str) -> str:
        return fulltext.vector(text)

    def query(self, text: str) -> str:
        return fulltext.query(text)

    @contextmanager
    def select(self, sql: str, functions: Mapping[str, Callable[..., Value]]) -> Iterator[Selected]:
        from bough.db.postgres.select import select

        with self._server.translate_errors(), self._server.pool.connection() as connection:
            selected = select(self._transaction(connection), connection, sql, functions)
        yield selected

    def check(self) -> list[str]:
        with self._server.translate_errors():
            return self._server.retry(self._check)

    def _check(self) -> list[str]:
        with self._server.pool.connection() as connection:
            return [found for (found,) in connection.run(CHECK)]

    def backup(self, target: StrPath) -> None:
        raise Refused(
            f"{self._server.name} is backed up on its server, with pg_dump or pg_basebackup; "
            f"a copy in a file is made by `bough db copy`. {os.fspath(target)!r} was not written."
        )

    def vacuum(self) -> None:
        """Makes the space of deleted rows available again. Raises `Refused` for a role that may not do it."""
        skipped: list[str] = []

        def notice(warning: psycopg.errors.Diagnostic) -> None:
            skipped.append(warning.message_primary or "")

        with self._server.translate_errors(), self._server.pool.connection() as connection:
            connection.add_notice_handler(notice)  # the server warns, and reports success
            try:
                for table in TABLES:
                    connection.run(f"VACUUM (ANALYZE) bough.{table}")
            finally:
                connection.remove_notice_handler(notice)
        if skipped:
            raise Refused(
                f"{self._server.name} did not vacuum {len(skipped)} of {len(TABLES)} tables: {skipped[0]}. "
                "Connect as their owner, or leave it to autovacuum."
            )

    def close(self) -> None:
        self._server.pool.close()

    def before_process_fork(self) -> None:
        pass  # the parent goes on with its connections

    def after_process_fork(self, child: bool) -> None:
        if child:  # closing inherited connections would close those of the parent
            self._inherited = self._current() is not None
            inherited_servers.append(self._server)
            self._write_lock = threading.Lock()
            self._server = self._server.reconnecting()


def check_namespace(namespace: str | None, url: str) -> str:
    """The namespace given as an argument or in the URL. Raises `Invalid`."""
    named = own_options(url).get("namespace")
    if namespace not in (None, NAMESPACE, named) and named is not None:
        raise Invalid(f"The URL names the namespace {named!r}, and {namespace!r} was asked for.")
    meant = NAMESPACE if named is None and namespace is None else named if named is not None else str(namespace)
    if not 0 < len(meant) <= 200 or not meant.isprintable():
        raise Invalid(f"A namespace is a short plain text, not {meant!r:.60}.")
    return meant
