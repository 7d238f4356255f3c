"""A sample of the suite: how it is made, and what its import has to result in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from bough.model import Json

FILES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Sample:
    """A file or directory of another program."""

    source: str
    """The importer's name."""
    about: str
    """Its special property, which names the test."""
    make: Callable[[Path], Path]
    """Makes it in an empty directory; the path to import."""
    conversations: int
    messages: int
    skipped: tuple[str, ...] = ()
    """A part of the place of each skipped item, in order."""
    edges: Mapping[str, str | None] = field(default_factory=dict)
    """For some messages, by their text: the text of the message before."""
    sessions: Mapping[str, str | None] = field(default_factory=dict)
    """For some sessions, by key: the text of the current message."""
    grow: Callable[[Path], object] | None = None
    """Changes the path as the other program does when the conversation continues."""
    grown: int = 0
    """The number of messages that `grow` adds."""
    tear: Callable[[Path], object] | None = None
    """Truncates the path as a crash of the other program would."""

    def __str__(self) -> str:
        return f"{self.source}: {self.about}"


def copied(name: str) -> Callable[[Path], Path]:
    """Makes a sample from files in `samples`."""

    def make(place: Path) -> Path:
        return Path(shutil.copytree(FILES / name, place / Path(name).name))

    return make


def append(path: Path, *records: Json) -> None:
    """Appends lines to a file, after removing a truncated last line."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    path.write_bytes(whole + b"".join(json.dumps(record).encode() + b"\n" for record in records))


def chop(path: Path, bytes: int = 7) -> None:
    """Cuts off the end of a file."""
    data = path.read_bytes()
    path.write_bytes(data[:-bytes])


def halve(path: Path) -> None:
    """Leaves the first half of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def insert(path: Path, table: str, *rows: dict[str, Any]) -> None:
    """Adds rows to a SQLite file, as the program that owns it would."""
    with opened(path) as connection:
        for row in rows:
            names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
            connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))


def database(path: Path, schema: str, **rows: list[dict[str, Any]]) -> Path:
    """Makes a SQLite file with these tables and rows."""
    with opened(path) as connection:
        connection.execute(schema)
    for table, some in rows.items():
        insert(path, table, *some)
    return path


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """A SQLite file, open for writing without sync."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA synchronous=OFF; BEGIN")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()
