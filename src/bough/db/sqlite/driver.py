"""The SQLite driver: one file, through apsw, safe against power loss, for many processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Literal, TypeVar

import apsw

from bough.db import PATIENCE, Row, Selected, StrPath, Value, fork_safety, read_statements
from bough.db.sqlite.errors import DRIVER, translate, translate_errors
from bough.db.sqlite.files import (
    check_directory,
    create_private,
    directory_of,
    has_pending_wal,
    identity,
    is_network,
    is_writable,
)
from bough.db.sqlite.schema import migrate
from bough.db.sqlite.wal import Log
from bough.db.sqlite.write_queue import WriteQueue
from bough.errors import Refused, StorageError

Journal = Literal["wal", "truncate"]

T = TypeVar("T")

WINDOW = 4_194_304
FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""The first releases, newest line first, in which two checkpoints cannot lose a committed transaction in WAL mode."""


class SQLite:
    """A database in one file. Thread-safe; the child of a process fork gets a connection of its own."""

    shared = index_has_keys = False
    concurrency = 4

    def __init__(
        self, path: StrPath, *, journal: Journal = "wal", patience: float = PATIENCE, migrations: StrPath | None = None
    ) -> None:
        # The WAL and the lock file belong beside the real file, whatever the working directory becomes.
        self.path = os.path.realpath(path)
        self._sql = read_statements("sqlite")
        self.patience = patience
        self.journal: Journal = journal if wal_is_safe(apsw.sqlite_lib_version()) else "truncate"
        self.read_only = False
        self._migrations = migrations
        self._mutex = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._queue = WriteQueue("", patience)
        self._log = Log()
        self._inherited: apsw.Connection | None = None
        """A connection inherited through a process fork in the middle of a transaction: never used, never closed."""
        self._closed = self._mutex_held = False
        self._commits = 0
        """Of this object; opening the file again counts too."""
        self._open()
        fork_safety.register(self)

    # The verbs ------------------------------------------------------------------------------------------------------
    # Every turn calls several of them. None calls another one, which was measured to save a twentieth of a turn.

    def rows(self, name: str, *params: Value) -> list[Row]:
        with self._mutex:
            try:
                return (self._connection or self._use()).execute(self._sql[name], params).fetchall()
            except DRIVER as error:
                raise translate(self.path, error) from None

    def row(self, name: str, *params: Value) -> Row | None:
        with self._mutex:
            try:
                return (self._connection or self._use()).execute(self._sql[name], params).fetchone()
            except DRIVER as error:
                raise translate(self.path, error) from None

    def rows_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        with self._mutex:
            try:
                return (self._connection or self._use()).executemany(self._sql[name], params).fetchall()
            except DRIVER as error:
                raise translate(self.path, error) from None

    def run(self, name: str, *params: Value) -> None:
        with self._mutex:
            try:
                (self._connection or self._use()).execute(self._sql[name], params)
            except DRIVER as error:
                raise translate(self.path, error) from None

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        with self._mutex:
            try:
                (self._connection or self._use()).executemany(self._sql[name], params)
            except DRIVER as error:
                raise translate(self.path, error) from None

    # Transactions ---------------------------------------------------------------------------------------------------

    def transact(self, work: Callable[[], T]) -> T:
        with self._mutex:
            if self._connection is None:
                self._use()
            if self.read_only:
                raise Refused(f"{self.path!r} is open for reading only: the file or its directory cannot be written.")
            if self._is_replaced():
                raise StorageError(
                    f"{self.path!r} was deleted or replaced while it was open; nothing was written. Connect again."
                )
            # The reference keeps the log open if another thread closes the store.
            done, log = self._write(work), self._log
        if not log.sync():  # the lock is released: others write while this waits for the disk
            with self._mutex:
                self._write(log.rewrite_if_doubtful)  # under the write lock nobody else appends to the log or resets it
        return done

    def _write(self, work: Callable[[], T]) -> T:
        """Runs work in a transaction of its own."""

        def whole() -> T:
            connection = self._connection or self._use()
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._log.rewrite_if_doubtful()
                done = work()
                connection.execute("COMMIT")
                self._commits += 1
                return done
            finally:
                roll_back(connection)  # after an error of the work or the commit, or Ctrl+C

        try:
            return self._queue.run(whole)
        except DRIVER as error:
            raise translate(self.path, error) from None

    def version(self) -> tuple[int, int]:
        # The pragma counts the commits of other connections, from when this one was opened.
        with self._mutex, translate_errors(self.path):
            connection = self._connection or self._use()
            ((others,),) = connection.execute("PRAGMA data_version")
            return self._commits, others

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._mutex:
            connection = self._connection or self._use()
            if connection.in_transaction:
                yield
                return
            try:
                connection.execute("BEGIN")
                yield
            except DRIVER as error:
                raise translate(self.path, error) from None
            finally:
                roll_back(connection)

    # The file -------------------------------------------------------------------------------------------------------

    def blob_chunks(self, n: int, size: int) -> Iterator[bytes]:
        # SQLite walks a chain of pages to an offset in a long value: a few long reads, not many short ones.
        offset = 0
        while True:
            with (
                self._mutex,
                translate_errors(self.path),
                self._use().blob_open("main", "blob_bytes", "bytes", n, False) as blob,
            ):
                blob.seek(offset)
                window = blob.read(WINDOW)
            if not window:
                return
            offset += len(window)
            for start in range(0, len(window), size):
                yield window[start : start + size]

    def words(self, text: str) -> str:
        return text  # FTS5 finds the words itself

    def query(self, text: str) -> str:
        return text

    def select(self, sql: str, functions: Mapping[str, Callable[..., Value]]) -> AbstractContextManager[Selected]:
        from bough.db.sqlite.select import select

        with translate_errors(self.path):
            reader = self._reader()
        return select(reader, self.path, sql, functions)

    def _reader(self) -> apsw.Connection:
        """Opens another connection, which can only read."""
        return self._open_for_reading()

    def check(self) -> list[str]:
        with self._mutex, translate_errors(self.path):
            found = [problem for (problem,) in self._use().execute("PRAGMA integrity_check(100)")]
            keys = [
                f"a row of {table} refers to a row of {parent} that is not there"
                for table, _, parent, _ in self._use().execute("PRAGMA foreign_key_check")
            ]
        return [finding for finding in found if finding != "ok"] + keys

    def backup(self, target: StrPath) -> None:
        if os.path.exists(target):
            raise Refused(f"{str(target)!r} exists; a backup never overwrites. Choose another name.")
        create_private(target)
        try:
            with self._mutex, translate_errors(target):
                self._copy(target)
        except BaseException:
            os.unlink(target)  # an incomplete backup must not be mistaken for a complete one
            raise

    def _copy(self, target: StrPath) -> None:
        copy = apsw.Connection(str(target))
        try:
            with copy.backup("main", self._use(), "main") as backup:
                backup.step()
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()  # a backup is one file, without a WAL beside it
        finally:
            copy.close()

    def vacuum(self) -> None:
        """Gives the space of deleted rows back to the disk."""

        def work() -> None:
            # Deleted words stay in the index until it is merged, and old pages in the WAL until it is truncated.
            self._use().execute(self._sql["merge_index"])
            self._use().execute("VACUUM")
            self._use().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        with self._mutex, translate_errors(self.path):
            self._queue.run(work)

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            if self._connection is not None:
                with suppress(apsw.Error):
                    self._connection.execute("PRAGMA optimize")  # only statistics: closing goes on without them
                self._disconnect()

    # Opening --------------------------------------------------------------------------------------------------------

    def _is_replaced(self) -> bool:
        return identity(self.path) != self._identity

    def _use(self) -> apsw.Connection:
        if self._closed:
            raise Refused("This store is closed; connect again.")
        if self._inherited is not None:
            raise Refused("This process was forked in the middle of a transaction; it cannot use the store.")
        return self._connection or self._open()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(apsw.Error):  # emptying the WAL may fail; what was acknowledged is durable without that
                self._connection.close()
        self._connection = None
        self._queue.close()
        self._log = Log()

    def before_process_fork(self) -> None:
        # Waits for a thread that is writing, unless it is the one that forks inside its own transaction.
        # SQLite forbids to carry an open connection into a child process.
        self._mutex_held = self._mutex.acquire(timeout=self.patience)
        if self._mutex_held and self._connection is not None and not self._connection.in_transaction:
            self._disconnect()

    def after_process_fork(self, child: bool) -> None:
        if child:
            self._mutex = threading.RLock()
            self._inherited, self._connection = self._connection, None
            self._queue.close()  # an inherited lock would outlive the process that took it
            self._log = Log()
        elif self._mutex_held:
            self._mutex.release()

    def _open(self) -> apsw.Connection:
        check_directory(self.path)
        if self.journal == "wal" and is_network(self.path):
            raise Refused(
                f"{self.path!r} is on a network file system, where SQLite's WAL loses data. "
                "Keep the file on a local disk, or connect with journal='truncate' and use it from one machine only."
            )
        self.read_only = not is_writable(self.path)
        self._queue = WriteQueue(f"{self.path}-lock", self.patience)
        with translate_errors(self.path):
            if self.read_only:
                self._connection = self._open_for_reading()
            else:
                create_private(self.path)
                # Two processes must not create or migrate one file at the same time.
                self._connection = self._queue.run(self._open_for_writing)
        self._identity = identity(self.path)
        self._commits += 1
        return self._connection

    def connect(self) -> apsw.Connection:
        """Opens a bare connection; tests override it to simulate failing disks."""
        return apsw.Connection(self.path, statementcachesize=200)

    def open_log(self) -> Log:
        """Opens the log of the connection; tests override it as well."""
        return Log(f"{self.path}-wal")

    def _open_for_writing(self) -> apsw.Connection:
        pending = has_pending_wal(self.path)
        connection = self.connect()
        try:
            connection.set_busy_timeout(int(self.patience * 1000))
            first = connection.pragma("user_version") == 0
            if first:  # only an empty file takes a page size; the default depends on the build of SQLite
                connection.execute("PRAGMA page_size=4096")
            migrate(connection, self.path, self._migrations, before_writing=lambda: self._set_journal(connection))
            self._set_journal(connection)
            set_pragmas(connection)
            if self.journal == "wal":
                connection.execute(
                    "PRAGMA synchronous=NORMAL; PRAGMA user_version"
                ).fetchall()  # a read creates the WAL file
                self._log = self.open_log()
        except BaseException:
            # Another program's file stays as it is, and so does what that program left in the WAL.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(pending))
            connection.close()
            raise
        return connection

    def _set_journal(self, connection: apsw.Connection) -> None:
        got = connection.pragma("journal_mode", self.journal)
        if got != self.journal:
            raise StorageError(f"{self.path!r} cannot be switched to journal mode {self.journal}; it stays in {got}.")
        # FULL until the log is open, which syncs it instead. A large write must not leave a large WAL behind for good.
        connection.execute("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864")

    def _open_for_reading(self) -> apsw.Connection:
        from pathlib import Path

        # A WAL file in a directory that cannot be written opens only as immutable, and only without a pending WAL.
        immutable = not os.access(directory_of(self.path), os.W_OK) and not has_pending_wal(self.path)
        place = Path(self.path).absolute().as_uri()
        uri = f"{place}?mode=ro{'&immutable=1' if immutable else ''}"
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(int(self.patience * 1000))
            migrate(connection, self.path, self._migrations, read_only=True)
            set_pragmas(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def wal_is_safe(version: str) -> bool:
    """Whether this SQLite keeps committed transactions when two checkpoints of a WAL race."""
    number = tuple(int(part) for part in version.split(".")[:3])
    return number >= FIXED[0] or any(number[:2] == fixed[:2] and number >= fixed for fixed in FIXED[1:])


def set_pragmas(connection: apsw.Connection) -> None:
    # A damaged or edited file must not run functions from its schema or lead reads out of a page. FAST overwrites
    # deleted content in pages that are written anyway.
    connection.execute(
        "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=FAST;"
        "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000; PRAGMA recursive_triggers=OFF"
    )
    # A table with a partial index makes SQLite plan a statement anew for every new parameter, which takes ten times as
    # long as most of ours run. With this a plan never depends on parameters, and is made once.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def roll_back(connection: apsw.Connection) -> None:
    """Rolls back the transaction, if there is one."""
    if connection.in_transaction:
        with suppress(apsw.Error):  # the error that led here is the one to raise
            connection.execute("ROLLBACK")
