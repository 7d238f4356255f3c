"""`connect`: open a store in a file, on a server or in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from bough.db import NAMESPACE, PATIENCE, Database, StrPath
from bough.db.sqlite.driver import SQLite
from bough.db.sqlite.files import make_private
from bough.errors import Invalid, Refused
from bough.locations import data_directory, is_server_url
from bough.storage.changes import AfterCommit
from bough.storage.messages import BeforeSave
from bough.store import Store, now


def default_path() -> str:
    """The path of the default store: `$BOUGH_DB`, or `bough.db` in the user's data directory."""
    if named := os.environ.get("BOUGH_DB"):
        return named
    return os.path.join(data_directory(), "bough.db")


def connect(
    where: StrPath | None = None,
    *,
    namespace: str | None = None,
    connections: int | None = None,
    journal: Literal["wal", "truncate"] = "wal",
    patience: float = PATIENCE,
    clock: Callable[[], int] = now,
    before_save: BeforeSave | None = None,
    after_commit: AfterCommit | None = None,
) -> Store:
    """Open a store; create the file if it does not exist. An older schema is migrated, after a backup of the file.

    `":memory:"` is a store in memory, lost when closed. The URL of a PostgreSQL database opens one `namespace` of it
    (also `?namespace=…` in the URL), with at most `connections` connections. `patience` is the number of seconds that
    a write waits for other writers.

    `before_save` is called with every message before it is hashed and stored, and returns the message to store, as it
    is or changed. What it raises is passed on and nothing is saved; an import leaves out and reports a message for
    which it raises `Refused` or `Invalid`. It may be called from several threads, and more than once for a message.
    `after_commit` is called with the list of changes of each transaction of this store, after they are durable, in the
    thread that wrote. What it raises is logged as an error of "bough", and no write fails for it.

    Raises `NotFound` for a directory that does not exist, `Refused` for
    another program's file or a network file system, `SchemaTooNew`, `Corrupt` and `StorageError`.
    """
    where = default_path() if where is None else where
    if is_server_url(where):
        return Store(open_server(str(where), namespace, connections, patience), clock, before_save, after_commit)
    if namespace not in (None, NAMESPACE):
        raise Invalid(f"A file has one namespace; {namespace!r} needs a PostgreSQL server, or a file of its own.")
    if str(where) == ":memory:":
        from bough.db.sqlite.memory import Memory

        return Store(Memory(patience), clock, before_save, after_commit)
    path = os.path.expanduser(where)
    if os.path.dirname(path) == data_directory():
        make_private(data_directory())
    return Store(SQLite(path, journal=journal, patience=patience), clock, before_save, after_commit)


def open_server(url: str, namespace: str | None, connections: int | None, patience: float) -> Database:
    try:
        from bough.db.postgres.driver import CONNECTIONS, PostgreSQL
    except ImportError as missing:
        raise Refused(f"PostgreSQL needs `pip install 'bough[postgres]'` ({missing}).") from None
    return PostgreSQL(url, namespace=namespace, patience=patience, connections=connections or CONNECTIONS)
