"""The JSON lines of `bough export`, imported with their ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.errors import FormatError
from bough.formats.records import KINDS, decode_record
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import Line, json_lines, parse_json_or_none, text_start
from bough.importers.types import Importer
from bough.model.imported import Archive, Record, Skipped


class BoughJSONL:
    name = "bough"
    title = "bough"

    def recognises(self, path: Path) -> bool:
        first = parse_json_or_none(text_start(path).split("\n", 1)[0])
        if not isinstance(first, dict):
            return False
        return {"id", "role", "blocks", "time"} <= first.keys() or (
            len(first) == 1 and bool(KINDS.keys() & first.keys())
        )

    def default_paths(self) -> list[Path]:
        return []

    def read(self, path: Path) -> Iterator[Archive | Skipped]:
        with open_files(path) as files:
            for name in files.names:
                yield Archive(name, _records(path, name))


def _records(path: Path, name: str) -> Iterator[Record | Skipped]:
    with open_files(path) as files, files.open(name) as stream:
        for line in json_lines(stream, name):
            yield _record(line) if isinstance(line, Line) else line


def _record(line: Line) -> Record | Skipped:
    try:
        return decode_record(line.value, line.place)
    except FormatError as error:
        return Skipped(line.place, str(error), line.value)


IMPORTER: Importer = BoughJSONL()
