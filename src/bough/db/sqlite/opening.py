"""Open connections to a file: for writing, and for reading where nothing can be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import apsw

from bough.db import StrPath
from bough.db.sqlite.files import can_read, can_write_beside, has_log, has_pending_wal
from bough.db.sqlite.schema import is_current, migrate
from bough.db.sqlite.write_queue import WriteQueue
from bough.errors import Refused, StorageError

Journal = Literal["wal", "truncate"]

FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""The first releases, newest line first, in which two checkpoints cannot lose a committed transaction in WAL mode."""


def wal_is_safe(version: str) -> bool:
    """Whether this SQLite keeps committed transactions when two checkpoints of a WAL race."""
    number = tuple(int(part) for part in version.split(".")[:3])
    return number >= FIXED[0] or any(number[:2] == fixed[:2] and number >= fixed for fixed in FIXED[1:])


def open_for_writing(
    connect: Callable[[], apsw.Connection],
    path: str,
    journal: Journal,
    queue: WriteQueue,
    patience: float,
    migrations: StrPath | None = None,
) -> apsw.Connection:
    """Opens the file, after making or migrating it."""
    pending = has_pending_wal(path)
    connection = connect()
    try:
        connection.set_busy_timeout(int(patience * 1000))
        # Making and migrating are done one at a time. Whoever finds nothing to do does not wait for a writer.
        if not is_ready(connection, journal, migrations):
            queue.run(lambda: make(connection, path, journal, migrations))
        set_journal(connection, path, journal)
        set_pragmas(connection)
    except BaseException:
        # Another program's file stays as it is, and so does what that program left in the WAL.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(pending))
        connection.close()
        raise
    return connection


def is_ready(connection: apsw.Connection, journal: Journal, migrations: StrPath | None) -> bool:
    """Whether the file has the current schema and this journal mode, found out by reading."""
    with suppress(apsw.BusyError):  # somebody is just making it
        return is_current(connection, migrations) and connection.pragma("journal_mode") == journal
    return False


def make(connection: apsw.Connection, path: str, journal: Journal, migrations: StrPath | None) -> None:
    """Creates or migrates the file."""
    if connection.pragma("user_version") == 0:  # only an empty file takes a page size; the default depends on the build
        connection.execute("PRAGMA page_size=4096")
    migrate(connection, path, migrations, before_writing=lambda: set_journal(connection, path, journal))


def set_journal(connection: apsw.Connection, path: str, journal: Journal) -> None:
    got = connection.pragma("journal_mode", journal)
    if got != journal:
        raise StorageError(f"{path!r} cannot be switched to journal mode {journal}; it stays in {got}.")
    # FULL until the log is open, which syncs it instead. A large write must not leave a large WAL behind for good.
    connection.execute("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864")


def open_for_reading(path: str, patience: float, migrations: StrPath | None = None) -> apsw.Connection:
    """Opens the file for reading only. Raises `Refused` for an older schema, and for a log that is out of reach."""
    from pathlib import Path

    if unreadable := [name for name in (f"{path}-wal", f"{path}-shm") if os.path.exists(name) and not can_read(name)]:
        raise Refused(
            f"{path!r} is open in another program, and {unreadable[0]!r} cannot be read by this user: what was written "
            "last would be missing. Let its owner give the right to read that file, or read a backup."
        )
    immutable = "&immutable=1" if is_immutable(path) else ""
    uri = f"{Path(path).absolute().as_uri()}?mode=ro{immutable}"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(int(patience * 1000))
        migrate(connection, path, migrations, read_only=True)
        set_pragmas(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def is_immutable(path: str) -> bool:
    """Whether the file can be read only without locks: nothing can be written beside it, and nobody has it open."""
    return not can_write_beside(path) and not has_log(path)


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
