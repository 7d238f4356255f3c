"""Titles of threads, which Codex keeps in an index or, since 2026, in a database."""

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
"""Directories between a rollout and the root of Codex's data."""


def thread_names(path: Path) -> dict[str, str]:
    """Titles by thread id, found at a path or above it. The last title counts."""
    for home in [path, *list(path.absolute().parents)[:LEVELS]]:
        found = {**_from_database(home), **_from_index(home / INDEX)}
        if found:
            return found
    return {}


def _from_index(path: Path) -> dict[str, str]:
    return dict(_lines(path)) if path.is_file() else {}


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with open_files(path) as files, files.open(path.name) as stream:
        for line in json_lines(stream, path.name):
            if isinstance(line, Line):
                thread, name = at(line.value, "id"), at(line.value, "thread_name")
                if isinstance(thread, str) and isinstance(name, str):
                    yield thread, name


def _from_database(home: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(home.glob("state_*.sqlite")) if home.is_dir() else ():
        if has_tables(path, threads=("id", "title")):
            with open_tables(path, in_place=True) as tables:
                for row in tables.rows("threads", ("id", "name", "title")):
                    if name := shortened(row["name"] or row["title"] or ""):
                        found[row["id"]] = name
    return found
