"""The JSON lines of `bough export`, imported with their ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.errors import FormatError, ImporterError
from bough.formats.archive import VERSION, decode_version, is_header
from bough.formats.records import KINDS, decode_record
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import WITH_CONSTANTS, Line, json_lines, parse_json_or_none, text_start
from bough.importers.types import Importer
from bough.model.imported import Archive, Record, Skipped


class BoughJSONL:
    name = "bough"
    title = "bough"

    def recognises(self, path: Path) -> bool:
        first = parse_json_or_none(text_start(path).split("\n", 1)[0])
        if not isinstance(first, dict):
            return False
        is_record = len(first) == 1 and bool(KINDS.keys() & first.keys())
        return is_record or is_header(first) or {"id", "role", "blocks", "time"} <= first.keys()

    def default_paths(self) -> list[Path]:
        return []

    def read(self, path: Path) -> Iterator[Archive | Skipped]:
        with open_files(path) as files:
            for name in files.names:
                yield Archive(name, _records(path, name))


def _records(path: Path, name: str) -> Iterator[Record | Skipped]:
    with open_files(path) as files, files.open(name) as stream:
        for line in json_lines(stream, name, WITH_CONSTANTS):
            found = _record(line) if isinstance(line, Line) else line
            if found is not None:
                yield found


def _record(line: Line) -> Record | Skipped | None:
    """The record of a line; None for a header. Raises `ImporterError` for the header of a newer archive."""
    try:
        if is_header(line.value):
            _check_version(decode_version(line.value, line.place), line.place)
            return None
        return decode_record(line.value, line.place)
    except FormatError as error:
        return Skipped(line.place, str(error), line.value)


def _check_version(version: int, place: str) -> None:
    if version > VERSION:
        raise ImporterError(
            f"{place}: this archive was written by a newer bough (version {version}, this one reads {VERSION}); "
            "nothing of it was imported. Upgrade bough, then import it again."
        )


IMPORTER: Importer = BoughJSONL()
