"""SQL that a person wrote, on a connection that can only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import apsw

from bough.db import Row, Selected, StrPath, Value
from bough.db.sqlite.errors import DRIVER, translate
from bough.errors import BoughError, Invalid, Refused

READS = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
ABOUT_TABLES = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"}
VALUES = {"user_version", "application_id", "page_size", "page_count", "freelist_count", "journal_mode", "data_version"}
"""Pragmas that are read without an argument. FTS5 itself asks for the last one."""
STEPS = 100_000
"""Steps of SQLite's machine after which Python looks for Ctrl+C."""


@contextmanager
def select(
    connection: apsw.Connection, path: StrPath, sql: str, functions: Mapping[str, Callable[..., Value]]
) -> Iterator[Selected]:
    """The result of one statement; its rows are read as they are needed. Closes the connection."""
    with closing(connection):
        connection.execute("PRAGMA query_only=ON")
        connection.authorizer = _authorize
        connection.set_progress_handler(lambda: False, STEPS)
        for name, function in functions.items():
            for count in (1, 2):
                connection.create_scalar_function(name, function, count)
        columns: list[str] = []

        def trace(cursor: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
            if columns:
                raise Invalid("That is more than one statement; write one.")
            columns.extend(name for name, *_ in cursor.get_description())
            return True

        cursor = connection.cursor()
        cursor.exec_trace = trace
        try:
            rows = cursor.execute(sql)
        except DRIVER as error:
            raise _explain(path, error) from None
        yield Selected(columns, _rows(rows, path))


def _rows(rows: Iterator[Row], path: StrPath) -> Iterator[Row]:
    try:
        yield from rows
    except DRIVER as error:
        raise _explain(path, error) from None


def _authorize(action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None) -> int:
    if action == apsw.SQLITE_PRAGMA:
        allowed = first in ABOUT_TABLES or (first in VALUES and second is None)
    else:
        allowed = action in READS
    return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY


def _explain(path: StrPath, error: apsw.Error | UnicodeError) -> BoughError:
    match error:
        case apsw.AuthError() | apsw.ReadOnlyError():
            return Refused("That statement does more than read; nothing was changed.")
        case apsw.SQLError():
            return Invalid(f"SQLite cannot run that statement: {error}.")
    return translate(path, error)
