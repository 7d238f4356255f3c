"""The SQLite driver: one file, through apsw, safe against power loss, for many processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeVar

import apsw

from bough.db import PATIENCE, Row, Selected, StrPath, Value, fork_safety, read_statements
from bough.db.sqlite.errors import DRIVER, translate, translate_errors
from bough.db.sqlite.files import (
    check_directory,
    check_names,
    create_private,
    finish_part,
    identity,
    is_network,
    is_writable,
    new_part,
    stamp,
)
from bough.db.sqlite.opening import Journal, is_immutable, open_for_reading, open_for_writing, wal_is_safe
from bough.db.sqlite.wal import Log, in_doubt
from bough.db.sqlite.write_queue import WriteQueue
from bough.errors import BoughError, Busy, Full, Refused, StorageError

T = TypeVar("T")

WINDOW = 4_194_304
LOG_DELETED = (
    "The log of {!r} was deleted while it was open, by hand or by another SQLite library in this process, such as "
    "Python's sqlite3, which deletes it when it closes the file. What was acknowledged before is in the file."
)


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
        self._snapshot: apsw.Connection | None = None
        """A connection to a file that nobody had open and that is read without locks: used until the file changes."""
        self._stamp: object = None
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
                raise self._translate(error) from None

    def row(self, name: str, *params: Value) -> Row | None:
        with self._mutex:
            try:
                return (self._connection or self._use()).execute(self._sql[name], params).fetchone()
            except DRIVER as error:
                raise self._translate(error) from None

    def rows_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        with self._mutex:
            try:
                return (self._connection or self._use()).executemany(self._sql[name], params).fetchall()
            except DRIVER as error:
                raise self._translate(error) from None

    def run(self, name: str, *params: Value) -> None:
        with self._mutex:
            try:
                (self._connection or self._use()).execute(self._sql[name], params)
            except DRIVER as error:
                raise self._translate(error) from None

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        with self._mutex:
            try:
                (self._connection or self._use()).executemany(self._sql[name], params)
            except DRIVER as error:
                raise self._translate(error) from None

    # Transactions ---------------------------------------------------------------------------------------------------

    def transact(self, work: Callable[[], T]) -> T:
        with self._mutex:
            if self._connection is None:
                self._use()
            if self.read_only:
                raise Refused(f"{self.path!r} is open for reading only: the file or its directory cannot be written.")
            self._check_files()
            # The reference keeps the log open if another thread closes the store.
            done, log = self._write(work), self._log
        if not log.sync():  # the lock is released: others write while this waits for the disk
            self._mend(log)
        if log.is_deleted():
            self._check_deletion(log)
        return done

    def _check_files(self) -> None:
        if self._is_replaced():
            raise StorageError(
                f"{self.path!r} was deleted or replaced while it was open; nothing was written. Connect again."
            )
        if self._log.is_deleted():
            self._disconnect()
            raise StorageError(f"{LOG_DELETED.format(self.path)} Nothing was written; repeat the call.")

    def _mend(self, log: Log) -> None:
        """Rewrites a log whose sync has failed. Under the write lock nobody else appends to it or resets it."""
        try:
            with self._mutex:
                self._write(log.rewrite_if_doubtful)
        except BoughError as error:  # whatever it says of its own write: ours is committed
            reason = "others kept it locked when it was to be written again" if isinstance(error, Busy) else str(error)
            raise in_doubt(log.path, reason.rstrip("."), isinstance(error, Full)) from None

    def _check_deletion(self, log: Log) -> None:
        with self._mutex:
            if self._log is not log:
                return  # another thread has closed the store, and SQLite has emptied the log into the file
            self._disconnect()
        raise StorageError(
            f"{LOG_DELETED.format(self.path)} Whether this write was kept is not known: look, or repeat the call with "
            "the same idempotency key."
        )

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
            raise self._translate(error) from None

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
                raise self._translate(error) from None
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
        return open_for_reading(self.path, self.patience, self._migrations)

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
        part = new_part(target)  # a backup that was killed must not be mistaken for a complete one
        try:
            with self._mutex, translate_errors(target):
                self._copy(part)
            finish_part(part, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part)
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
                    self._connection.set_busy_timeout(0)
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
        if self._snapshot is not None:
            if self._snapshot.in_transaction or not self._is_changed():
                return self._snapshot
            self._disconnect()
        return self._connection or self._open()

    def _is_changed(self) -> bool:
        """Whether the file of the snapshot has changed, or somebody has opened it for writing."""
        return self._snapshot is not None and stamp(self.path) != self._stamp

    def _translate(self, error: apsw.Error | UnicodeError) -> BoughError:
        if self._is_changed():
            return Busy(f"{self.path!r} was changed while it was read; read again.")
        return translate(self.path, error)

    def _disconnect(self) -> None:
        for connection in (self._connection, self._snapshot):
            if connection is not None:
                # Others may have written since the log was deleted: what is in it must not overwrite that.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(self._log.is_deleted()))
                with suppress(apsw.Error):  # emptying the WAL may fail; what was acknowledged is durable without that
                    connection.close()
        self._connection = self._snapshot = None
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
        check_names(self.path, self.read_only)
        self._stamp = stamp(self.path)
        with translate_errors(self.path):
            if not self.read_only:
                connection = self._connection = self._open_for_writing()
            elif is_immutable(self.path):
                connection = self._snapshot = self._reader()
            else:
                connection = self._connection = self._reader()
        self._identity = identity(self.path)
        self._commits += 1
        return connection

    def connect(self) -> apsw.Connection:
        """Opens a bare connection; tests override it to simulate failing disks."""
        return apsw.Connection(self.path, statementcachesize=200)

    def open_log(self) -> Log:
        """Opens the log of the connection; tests override it as well."""
        return Log(f"{self.path}-wal")

    def _open_for_writing(self) -> apsw.Connection:
        create_private(self.path)
        connection = open_for_writing(
            self.connect, self.path, self.journal, self._queue, self.patience, self._migrations
        )
        if self.journal == "wal":
            try:
                # The read creates the WAL file.
                connection.execute("PRAGMA synchronous=NORMAL; PRAGMA user_version").fetchall()
                self._log = self.open_log()
            except BaseException:
                connection.close()
                raise
        return connection


def roll_back(connection: apsw.Connection) -> None:
    """Rolls back the transaction, if there is one."""
    if connection.in_transaction:
        with suppress(apsw.Error):  # the error that led here is the one to raise
            connection.execute("ROLLBACK")
