"""What the user called the threads: Codex keeps that apart from them, in an index or, since 2026, in a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import at
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.sqlite import has_tables, open_tables
from bough.importers.common.titles import shortened

INDEX = "session_index.jsonl"
LEVELS = 5
"""From the file of a day up to Codex's own directory."""


def names(path: Path) -> dict[str, str]:
    """The names of threads, by their ids, as found at a path or above it. The last name counts."""
    for home in [path, *list(path.absolute().parents)[:LEVELS]]:
        found = {**_stored(home), **_indexed(home / INDEX)}
        if found:
            return found
    return {}


def _indexed(path: Path) -> dict[str, str]:
    return dict(_lines(path)) if path.is_file() else {}


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with open_files(path) as files, files.open(path.name) as stream:
        for line in json_lines(stream, path.name):
            if isinstance(line, Line):
                thread, name = at(line.value, "id"), at(line.value, "thread_name")
                if isinstance(thread, str) and isinstance(name, str):
                    yield thread, name


def _stored(home: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(home.glob("state_*.sqlite")) if home.is_dir() else ():
        if has_tables(path, threads=("id", "title")):
            with open_tables(path, in_place=True) as tables:
                for row in tables.rows("threads", ("id", "name", "title")):
                    if name := shortened(row["name"] or row["title"] or ""):
                        found[row["id"]] = name
    return found
