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
    newest = VERSION if directory is None else max([VERSION, *(version for version, _ in steps("sqlite", directory))])
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
        apply(connection, read_text(SCHEMA, "sqlite.sql"), VERSION)
        return
    if version > 0:
        back_up(connection, path, version)
    before_writing()
    pending = [(number, sql) for number, sql in steps("sqlite", directory) if number > version]
    apply(connection, "\n".join(sql for _, sql in pending), pending[-1][0])


def apply(connection: apsw.Connection, sql: str, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(sql)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={version}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # the error that led here is the one to raise
            connection.execute("ROLLBACK")
        raise


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
