"""Bring a file to the current schema: a new one at once, an older one step by step, after a backup."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import apsw

from bough.db import StrPath, read_text
from bough.db.migrations import SCHEMA, VERSION, steps
from bough.db.sqlite.files import create_private
from bough.errors import Refused, SchemaTooNew, StorageError

APPLICATION_ID = 0x626F7567  # "boug"


def migrate(
    connection: apsw.Connection,
    path: StrPath,
    directory: StrPath | None = None,
    *,
    read_only: bool = False,
    before_writing: Callable[[], None] = lambda: None,
) -> None:
    """Creates or migrates the schema in one transaction, while the caller keeps other processes out.

    Raises `Refused` for another program's file or an older one that is read-only, and `SchemaTooNew`.
    """
    newest = newest_version(directory)
    version, application = connection.pragma("user_version"), connection.pragma("application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").get
    if application != APPLICATION_ID and (tables or version):
        raise Refused(
            f"{str(path)!r} is a SQLite file of another program; it was left alone. `bough import` may read it."
        )
    if version > newest:
        raise SchemaTooNew(
            f"{str(path)!r} was written by a newer bough (schema {version}, this one supports {newest}); "
            "upgrade bough to open it. The file was left alone."
        )
    if version == newest:
        return
    if read_only:
        raise Refused(
            f"{str(path)!r} has an older schema ({version}) and cannot be written, so it cannot be brought up to date."
        )
    if version == 0 and directory is None:
        before_writing()
        pending = [(VERSION, read_text(SCHEMA, "sqlite.sql"))]
    else:
        if version > 0:
            back_up(connection, path, version)
        before_writing()
        pending = [(number, sql) for number, sql in steps("sqlite", directory) if number > version]
    if not apply(connection, "\n".join(sql for _, sql in pending), version, pending[-1][0]):
        migrate(connection, path, directory)  # the queue was passed, and another process was first


def newest_version(directory: StrPath | None = None) -> int:
    return VERSION if directory is None else max([VERSION, *(version for version, _ in steps("sqlite", directory))])


def is_current(connection: apsw.Connection, directory: StrPath | None = None) -> bool:
    """Whether the file has the newest schema."""
    version, application = connection.pragma("user_version"), connection.pragma("application_id")
    return (version, application) == (newest_version(directory), APPLICATION_ID)


def apply(connection: apsw.Connection, sql: str, before: int, version: int) -> bool:
    """Brings the schema from version `before` to another one, in one transaction; False if it is not at `before`."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if expected := bool(connection.pragma("user_version") == before):
            connection.execute(sql)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={version}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # the error that led here is the one to raise
            connection.execute("ROLLBACK")
        raise
    return expected


def back_up(connection: apsw.Connection, path: StrPath, version: int) -> str:
    """Copies the file, in its directory, before a migration; an unfinished copy of an earlier attempt is replaced."""
    target = f"{path}.v{version}.backup"
    try:
        with suppress(FileNotFoundError):
            os.unlink(target)
        create_private(target)
        connection.execute("VACUUM INTO ?", (target,))  # with the content of the WAL, unlike a copy of the file
    except (apsw.Error, OSError) as error:
        raise StorageError(
            f"{str(path)!r} has the older schema {version}, and its backup {target!r} could not be written: "
            f"{error}. Nothing was changed."
        ) from None
    return target
