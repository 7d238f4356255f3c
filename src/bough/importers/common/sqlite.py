"""Read other programs' SQLite files without locking, changing or trusting them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import apsw

from bough.errors import ImporterError
from bough.importers.common.files import file_start

LONGEST_VALUE = 512 * 2**20
"""Bytes; a larger value is an error, because values are read into memory."""


class Tables:
    """Rows as dicts. A column that this version of the file lacks is None in every row."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._columns: dict[str, list[str]] = {}

    @cached_property
    def names(self) -> set[str]:
        """The names of the tables; not of views, which would run SQL of the file."""
        # A virtual table has no root page; reading one would run the code of its module.
        rows = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return {str(row[0]) for row in rows}

    def columns(self, table: str) -> list[str]:
        """The columns of a table; empty if there is no such table."""
        if table not in self.names:
            return []
        if table not in self._columns:
            rows = self._connection.execute(f"PRAGMA table_info({quote(table)})")
            self._columns[table] = [str(row[1]) for row in rows]
        return self._columns[table]

    def rows(
        self, table: str, columns: Sequence[str], order: str = "rowid", blobs: Collection[str] = (), **where: Any
    ) -> Iterator[dict[str, Any]]:
        """The rows of a table. `order` is a list of columns, separated by commas; `where` compares columns."""
        existing = set(self.columns(table))
        if not existing:
            return
        selected = [self._value(column) if column in existing else "NULL" for column in columns]
        conditions = [column for column in where if column in existing]
        condition = " AND ".join(_equals(column, where[column]) for column in conditions) or "1"
        ordered = ", ".join(quote(part) for part in order.split(",") if part in existing or part == "rowid")
        statement = f"SELECT {', '.join(selected)} FROM {quote(table)} WHERE {condition} ORDER BY {ordered or 'rowid'}"
        with translated_errors(self._path):
            for row in self._connection.execute(statement, [_parameter(where[column]) for column in conditions]):
                yield {name: _plain(value, name in blobs) for name, value in zip(columns, row, strict=True)}

    def beginning(self, table: str, columns: Sequence[str], key: str, prefix: str) -> Iterator[dict[str, Any]]:
        """The rows of a table whose text key begins with a prefix, in the order of the key, by its index."""
        if key not in self.columns(table):
            return
        name = quote(key)
        selected = ", ".join(self._value(column) for column in columns)
        statement = f"SELECT {selected} FROM {quote(table)} WHERE {name} >= ? AND {name} < ? ORDER BY {name}"
        with translated_errors(self._path):
            for row in self._connection.execute(statement, (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))):
                yield {column: _plain(value, False) for column, value in zip(columns, row, strict=True)}

    def _value(self, column: str) -> str:
        # As bytes: the driver would refuse the whole row for text that is not UTF-8.
        name = quote(column)
        return f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"


def is_sqlite(path: Path) -> bool:
    """Whether a file is SQLite, regardless of its name."""
    return file_start(path, 16) == b"SQLite format 3\0"


def has_tables(path: Path, **conditions: Collection[str]) -> bool:
    """Whether a file is SQLite and has these tables with these columns. Does not wait for writers."""
    if not is_sqlite(path):
        return False
    # The schema of a new file may be in its WAL only, which an immutable connection does not read.
    has_wal = _state(Path(f"{path}-wal")) is not None
    return _has(path, "mode=ro&immutable=1", conditions) or (has_wal and _has(path, "mode=ro", conditions))


def _has(path: Path, options: str, conditions: Mapping[str, Collection[str]]) -> bool:
    try:
        with translated_errors(path), closing(connect(path, options)) as connection:
            tables = Tables(connection, path)
            return all(set(columns) <= set(tables.columns(name)) for name, columns in conditions.items())
    except ImporterError:  # only recognition fails; opening the file reports the error
        return False


@contextmanager
def open_tables(path: Path, in_place: bool = False) -> Iterator[Tables]:
    """The tables of a file. If a WAL or a journal is pending, a private copy of all of them is read.

    `in_place` is for files that hold credentials: they are never copied. Raises `ImporterError`.
    """
    if not is_sqlite(path):
        raise ImporterError(f"{str(path)!r} is not a SQLite database.")
    with translated_errors(path), tempfile.TemporaryDirectory(prefix="bough-import-") as private:
        before = _state(path)
        pending = [ending for ending in ("-wal", "-journal") if _state(Path(f"{path}{ending}"))]
        if pending and not in_place:
            connection = connect(_copy(path, Path(private), pending), "")
        else:
            connection = connect(path, "mode=ro" if pending else "mode=ro&immutable=1")
        try:
            yield Tables(connection, path)
        finally:
            connection.close()
        if not pending and _state(path) != before:
            raise ImporterError(
                f"{str(path)!r} was written to while it was read. Import it again; nothing is stored twice."
            )


def _state(path: Path) -> tuple[int, int] | None:
    """The size and modification time of a file; None if it is missing or empty."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return (stat.st_size, stat.st_mtime_ns) if stat.st_size else None


def _copy(path: Path, directory: Path, pending: list[str]) -> Path:
    """A private copy of a database with its pending WAL and journal."""
    copy = directory / "copy.db"
    for ending in ("", *pending):
        shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    return copy


def connect(path: Path, options: str) -> apsw.Connection:
    """A read-only connection that trusts nothing in the file: no triggers or views, no memory maps, limited values."""
    uri = f"{path.absolute().as_uri()}?{options}"
    # A private copy has no options. It is writable, because SQLite must apply its WAL or journal.
    writable = apsw.SQLITE_OPEN_READONLY if options else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(uri, flags=writable | apsw.SQLITE_OPEN_URI)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.set_busy_timeout(2_000)
    # With a memory map, a file that its owner truncates would end this process with SIGBUS.
    connection.execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON")
    return connection


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turns errors of reading into `ImporterError`."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise ImporterError(f"{str(path)!r} cannot be read: {error}. The file was left alone.") from None


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _equals(column: str, value: Any) -> str:
    name = quote(column)
    return f"CAST({name} AS BLOB) IS ?" if isinstance(_parameter(value), bytes) else f"{name} IS ?"


def _parameter(value: Any) -> Any:
    """A value to compare with; text that was decoded with surrogates becomes bytes again."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape")
    return value


def _plain(value: Any, is_blob: bool) -> Any:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) and not is_blob else value
