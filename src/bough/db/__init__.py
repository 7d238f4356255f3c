"""Databases: they know rows and statements, and have never heard of a message.

A database runs the statements of `queries.sql` by name. The store above it decides which, and in what transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Value: TypeAlias = str | bytes | int | float | None

HERE = Path(__file__).parent


class Database(Protocol):
    """What the store asks of a database."""

    def rows(self, name: str, *params: Value) -> list[Row]:
        """All rows of a named statement."""

    def row(self, name: str, *params: Value) -> Row | None:
        """The first row, or None."""

    def run(self, name: str, *params: Value) -> None:
        """Runs a statement that returns nothing."""

    def run_many(self, name: str, params: Iterable[Sequence[Value]]) -> None:
        """Runs a statement once for each set of parameters."""

    def writing(self) -> AbstractContextManager[None]:
        """A write transaction: everything in it, or nothing. Durable when it ends."""

    def reading(self) -> AbstractContextManager[None]:
        """A read transaction: everything in it sees the same state."""

    def blob_chunks(self, n: int, size: int) -> Iterator[bytes]:
        """The stored bytes of a blob, a piece at a time."""

    def check(self) -> list[str]:
        """What the engine itself finds wrong with the file."""

    def backup(self, target: Path) -> None:
        """Writes a consistent copy while others go on writing."""

    def close(self) -> None: ...


def read_statements(text: str) -> dict[str, str]:
    """The named statements of a file of SQL, with their fragments filled in."""
    pieces = re.split(r"^-- (fragment|name): (\w+)\n", text, flags=re.MULTILINE)
    found: dict[str, dict[str, str]] = {"fragment": {}, "name": {}}
    for sort, name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        found[sort][name] = " ".join(line for line in body.splitlines() if line and not line.startswith("--"))

    def fill(statement: str) -> str:
        while "{" in statement:
            statement = re.sub(r"\{(\w+)\}", lambda match: found["fragment"][match[1]], statement)
        return statement

    return {name: fill(statement) for name, statement in found["name"].items()}
