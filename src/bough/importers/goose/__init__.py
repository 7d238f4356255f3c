"""goose: `sessions.db`, and JSONL files and exports of single sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from bough.errors import ImporterError
from bough.importers.common.files import Files, file_start, open_files
from bough.importers.common.json_reader import Line, decode_text, json_lines, read_json
from bough.importers.common.paths import xdg_data_directory
from bough.importers.goose.database import GooseDatabase, is_goose
from bough.importers.goose.session_file import NAME, is_export, is_first_line, read_export, read_session_file
from bough.importers.types import Importer
from bough.model.imported import Conversation, Skipped

DATABASE = "sessions.db"
FILES_TO_TRY = 5
LOOKED_AT = 2_000
"""Files, and bytes of an export, that recognition looks at: the fields of a session come before its messages."""


class Goose:
    """Reads the directory of sessions, its database, or one session."""

    name = NAME
    title = "goose"

    def recognises(self, path: Path) -> bool:
        if path.is_dir():
            return is_goose(path / DATABASE) or self._has_lines(path)
        if path.suffix == ".jsonl":
            return self._has_lines(path)
        return is_goose(path) or _looks_like_export(path)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        database = path / DATABASE if path.is_dir() else path
        if is_goose(database):
            yield from GooseDatabase(database).conversations()
        if path.is_dir() or path.suffix == ".jsonl":
            with open_files(path) as files:
                for name in filter(_is_session, files.names):
                    yield from read_session_file(files, name)
        elif path.suffix == ".json":
            with open_files(path) as files, files.open(path.name) as stream:
                yield read_export(read_json(stream, path.name), path.name)

    def default_paths(self) -> list[Path]:
        root = os.environ.get("GOOSE_PATH_ROOT")
        if root:
            place = Path(root) / "data" / "sessions"
        elif sys.platform == "win32":
            place = Path(os.environ.get("APPDATA") or Path.home()) / "Block" / "goose" / "data" / "sessions"
        else:
            place = xdg_data_directory() / "goose" / "sessions"
        return [place] if place.is_dir() else []

    def _has_lines(self, path: Path) -> bool:
        with open_files(path) as files:
            return any(_is_ours(files, name) for name in islice(filter(_is_session, files.names), FILES_TO_TRY))


def _is_session(name: str) -> bool:
    return PurePosixPath(name).suffix == ".jsonl"


def _is_ours(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    return isinstance(first, Line) and is_first_line(first.value)


def _looks_like_export(path: Path) -> bool:
    start = decode_text(file_start(path, LOOKED_AT))
    if '"working_dir"' not in start or not start.lstrip().startswith("{"):
        return False
    try:
        with open_files(path) as files, files.open(path.name) as stream:
            return is_export(read_json(stream, path.name))
    except ImporterError:
        return False


IMPORTER: Importer = Goose()
