"""Tables of other programs' SQLite files, read without locking, changing or trusting the file."""

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
from bough.importers.common.files import head

LONGEST_VALUE = 512 * 2**20


class Tables:
    """Rows as dicts. A column that this generation of the file does not have is None in every row."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._columns: dict[str, list[str]] = {}

    @cached_property
    def names(self) -> set[str]:
        """The tables; views, which run SQL that somebody else wrote, are not among them."""
        rows = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return {str(row[0]) for row in rows}

    def columns(self, table: str) -> list[str]:
        """The columns of a table; none if there is no such table."""
        if table not in self.names:
            return []
        if table not in self._columns:
            rows = self._connection.execute(f"PRAGMA table_info({quote(table)})")
            self._columns[table] = [str(row[1]) for row in rows]
        return self._columns[table]

    def rows(
        self, table: str, columns: Sequence[str], order: str = "rowid", blobs: Collection[str] = (), **where: Any
    ) -> Iterator[dict[str, Any]]:
        """The rows of a table in order of a column, or several with commas between; `where` compares columns."""
        there = set(self.columns(table))
        if not there:
            return
        picked = [self._value(column) if column in there else "NULL" for column in columns]
        wanted = [column for column in where if column in there]
        condition = " AND ".join(_equals(column, where[column]) for column in wanted) or "1"
        ordered = ", ".join(quote(part) for part in order.split(",") if part in there or part == "rowid")
        statement = f"SELECT {', '.join(picked)} FROM {quote(table)} WHERE {condition} ORDER BY {ordered or 'rowid'}"
        with reading(self._path):
            for row in self._connection.execute(statement, [_given(where[column]) for column in wanted]):
                yield {name: _plain(value, name in blobs) for name, value in zip(columns, row, strict=True)}

    def _value(self, column: str) -> str:
        # As bytes: the driver refuses text that is not UTF-8, and with it the whole row.
        name = quote(column)
        return f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"


def is_sqlite(path: Path) -> bool:
    """Whether a file is SQLite, whatever it is called."""
    return head(path, 16) == b"SQLite format 3\0"


def has_tables(path: Path, **wanted: Collection[str]) -> bool:
    """Whether a file is SQLite and has these tables with these columns. Nobody who is writing to it is waited for."""
    if not is_sqlite(path):
        return False
    # The schema of a young file may still be in its WAL, where only a reader who takes part sees it.
    in_the_wal = _state(Path(f"{path}-wal")) is not None
    return _has(path, "mode=ro&immutable=1", wanted) or (in_the_wal and _has(path, "mode=ro", wanted))


def _has(path: Path, options: str, wanted: Mapping[str, Collection[str]]) -> bool:
    try:
        with reading(path), closing(connect(path, options)) as connection:
            tables = Tables(connection, path)
            return all(set(columns) <= set(tables.columns(name)) for name, columns in wanted.items())
    except ImporterError:
        return False


@contextmanager
def open_tables(path: Path, in_place: bool = False) -> Iterator[Tables]:
    """The tables of a file. One that is being written is read from a private copy, with its WAL or its journal.

    `in_place` is for files that hold secrets: they are never copied. Raises `ImporterError`.
    """
    if not is_sqlite(path):
        raise ImporterError(f"{str(path)!r} is not a SQLite database.")
    with reading(path), tempfile.TemporaryDirectory(prefix="bough-import-") as private:
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
                f"{str(path)!r} was written to while it was read. Import it again; nothing comes twice."
            )


def _state(path: Path) -> tuple[int, int] | None:
    """The size and time of a file; None when it is not there, or empty."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return None
    return (about.st_size, about.st_mtime_ns) if about.st_size else None


def _copy(path: Path, directory: Path, pending: list[str]) -> Path:
    """A private copy of a database, with what its program has not yet written into it, or will take back."""
    copy = directory / "copy.db"
    for ending in ("", *pending):
        shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    return copy


def connect(path: Path, options: str) -> apsw.Connection:
    """A connection that trusts nothing in the file: no functions in its schema, no memory maps, no endless values."""
    uri = f"{path.absolute().as_uri()}?{options}"
    writable = apsw.SQLITE_OPEN_READONLY if options else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(uri, flags=writable | apsw.SQLITE_OPEN_URI)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.set_busy_timeout(2_000)
    connection.execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON")
    return connection


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what can go wrong with such a file into `ImporterError`."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise ImporterError(f"{str(path)!r} cannot be read: {error}. The file was left alone.") from None


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _equals(column: str, value: Any) -> str:
    name = quote(column)
    return f"CAST({name} AS BLOB) IS ?" if isinstance(_given(value), bytes) else f"{name} IS ?"


def _given(value: Any) -> Any:
    """A value to compare with; bytes that were read as if they were text are bytes again."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape")
    return value


def _plain(value: Any, is_blob: bool) -> Any:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) and not is_blob else value
