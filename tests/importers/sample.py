"""What the suite needs to know of a sample: how it is made, and what must come of it."""

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
    """What is special about it: the name of the test."""
    make: Callable[[Path], Path]
    """Makes it in an empty directory; the path to import."""
    conversations: int
    messages: int
    skipped: tuple[str, ...] = ()
    """A part of the place of each thing that is not understood, in order."""
    edges: Mapping[str, str | None] = field(default_factory=dict)
    """For some messages, by their text: the text of the message before."""
    sessions: Mapping[str, str | None] = field(default_factory=dict)
    """For some sessions, by key: the text of the message where each stands."""
    grow: Callable[[Path], object] | None = None
    """Does to the path what the other program does when the conversation goes on,"""
    grown: int = 0
    """and how many messages that adds."""
    tear: Callable[[Path], object] | None = None
    """Leaves the path as a crash of the other program, or a copy in mid-write, would."""

    def __str__(self) -> str:
        return f"{self.source}: {self.about}"


def copied(name: str) -> Callable[[Path], Path]:
    """Makes a sample of what lies in `samples`."""

    def make(place: Path) -> Path:
        return Path(shutil.copytree(FILES / name, place / Path(name).name))

    return make


def append(path: Path, *records: Json) -> None:
    """Adds lines to a file, as a program does that is still running; a line that was torn off is finished first."""
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
    """Another program's file, open for writing; what it writes need not survive a power cut."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA synchronous=OFF; BEGIN")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()
