"""Databases: rows and named statements, without any notion of a message.

A database runs the statements of `queries.sql`, and of the file of its own engine beside it, by name. The store decides
which, and in what transaction.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from bough.db.rows import TABLES

Row: TypeAlias = tuple[Any, ...]
Value: TypeAlias = str | bytes | int | float | None

StrPath: TypeAlias = str | os.PathLike[str]
"""The path of a file. No pathlib inside bough: it would be a tenth of `import bough`."""
T = TypeVar("T")

HERE = os.path.dirname(__file__)
PATIENCE = 10.0
"""Seconds that a write waits for others."""
NAMESPACE = "default"


class Selected(NamedTuple):
    """The result of a statement that a person wrote."""

    columns: list[str]
    rows: Iterator[Row]


class Database(Protocol):
    """The operations that the store needs of an engine."""

    @property
    def read_only(self) -> bool:
        """Whether it can only be read."""

    @property
    def shared(self) -> bool:
        """Whether other machines may use it at the same time."""

    @property
    def index_has_keys(self) -> bool:
        """Whether a message is taken out of the search index by its number, and not by its words."""

    @property
    def concurrency(self) -> int:
        """The number of threads that it can serve at the same time."""

    def rows(self, name: str, *params: Value) -> list[Row]:
        """All rows of a named statement."""

    def row(self, name: str, *params: Value) -> Row | None:
        """The first row, or None."""

    def run(self, name: str, *params: Value) -> None:
        """Runs a statement that returns nothing."""

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        """Runs a statement once for each set of parameters."""

    def rows_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        """The rows of a statement that is run once for each set of parameters."""

    def transact(self, work: Callable[[], T]) -> T:
        """Runs work in a write transaction, which is durable when this returns.

        Work that the engine has certainly rolled back, as after a deadlock, is run again.
        """

    def version(self) -> object:
        """A value that differs after any commit of anyone. Cheap: it is asked for many times a second."""

    def reading(self) -> AbstractContextManager[None]:
        """A read transaction: all statements in it see the same state."""

    def blob_chunks(self, n: int, size: int) -> Iterator[bytes]:
        """The stored bytes of a blob, in chunks."""

    def words(self, text: str) -> Value:
        """The value that the search index stores for a text."""

    def query(self, text: str) -> Value:
        """The value that the search index takes for a query in the syntax of FTS5."""

    def select(self, sql: str, functions: Mapping[str, Callable[..., Value]]) -> AbstractContextManager[Selected]:
        """Runs one statement that a person wrote and that only reads.

        In a file it can call `functions`, with one or two arguments. Raises `Invalid` for a statement
        that the engine does not understand, and `Refused` for one that writes.
        """

    def check(self) -> list[str]:
        """The problems that the engine itself finds."""

    def backup(self, target: StrPath) -> None:
        """Writes a consistent copy while others keep writing."""

    def vacuum(self) -> None:
        """Frees the space of deleted rows."""

    def close(self) -> None: ...


def read_text(*place: str) -> str:
    """The text of a file of this package, by its path below this directory."""
    with open(os.path.join(HERE, *place), encoding="utf-8") as file:
        return file.read()


def column_fragments() -> dict[str, str]:
    """`{turn_columns}` and `{turn_values}`, and the like for each table."""
    columns = {f"{name}_columns": ", ".join(row._fields) for name, row in TABLES.items()}
    return columns | {f"{name}_values": ", ".join("?" * len(row._fields)) for name, row in TABLES.items()}


@cache
def read_statements(engine: str) -> dict[str, str]:
    """The named statements of an engine, with their fragments filled in."""
    text = read_text("queries.sql") + read_text(f"queries.{engine}.sql")
    fragments = column_fragments() | sections(text, "fragment")

    def fill(statement: str) -> str:
        while (filled := re.sub(r"\{(\w+)\}", lambda match: fragments[match[1]], statement)) != statement:
            statement = filled
        return statement

    return {name: fill(statement) for name, statement in sections(text, "name").items()}


def sections(text: str, kind: str) -> dict[str, str]:
    """The texts below the lines `-- kind: name` of a file of SQL, on one line each and without comments."""
    pieces = re.split(r"^-- (\w+): (\w+)\n", text, flags=re.MULTILINE)
    return {
        name: " ".join(line.strip() for line in body.splitlines() if line and not line.startswith("--"))
        for found, name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True)
        if found == kind
    }
