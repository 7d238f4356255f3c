"""Data exports of web services: a zip, a directory or a file, with JSON lists of conversations."""

from __future__ import annotations

import codecs
import marshal
import re
import tempfile
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path, PurePosixPath

from bough.errors import ImporterError
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import as_utf8, json_items, read_json
from bough.model import Json
from bough.model.imported import Skipped

LOOKED_AT = 65_536
"""Bytes at the beginning of a file that are searched for the mark of a service."""
_SHARD = re.compile(r"conversations([-_]\d+)?\.json")


def shards(files: Files) -> list[str]:
    """The names of the files with conversations: one or several of an export, or the only file."""
    record = [name for name in files.names if _SHARD.fullmatch(PurePosixPath(name).name)]
    return record or ([name for name in files.names if name.endswith(".json")] if len(files.names) == 1 else [])


def holds(path: Path, mark: bytes) -> bool:
    """Whether the conversations of an export contain a mark that is specific to one service."""
    try:
        with open_files(path) as files:
            return any(mark in _start(files, name) for name in shards(files))
    except ImporterError:  # only recognition fails; opening the file reports the error
        return False


def _start(files: Files, name: str) -> bytes:
    with files.open(name) as stream:
        start = stream.read(LOOKED_AT)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        start = start.decode("utf-16", "ignore").encode()
    return start if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") else b""


def conversations(files: Files, last_used: Callable[[Json], int | None]) -> Iterator[tuple[str, Json | Skipped]]:
    """The conversations of all shards, each with its place, in the order of their last use.

    Exports are mostly ordered newest first and may not fit into memory, so they pass through a temporary file.
    """
    with tempfile.TemporaryFile(prefix="bough-import-") as spool:
        kept: list[tuple[int, str, int, int]] = []
        for place, record in (one for name in shards(files) for one in _objects(files, name)):
            if not isinstance(record, dict):
                yield place, record
                continue
            try:
                packed = marshal.dumps(record)  # the fastest way to write JSON values and read them back
            except ValueError as error:
                yield place, Skipped(place, f"It cannot be kept: {error}.")
                continue
            kept.append((last_used(record) or 0, place, spool.tell(), len(packed)))
            spool.write(packed)
        for _, place, offset, size in sorted(kept, key=itemgetter(0)):
            spool.seek(offset)
            yield place, marshal.loads(spool.read(size))


def _objects(files: Files, name: str) -> Iterator[tuple[str, Json | Skipped]]:
    """The conversations of one file, each with its place. A file may also be a single conversation."""
    with files.open(name) as raw:
        stream = as_utf8(raw)
        if stream.peek(LOOKED_AT).lstrip().startswith(b"{"):  # type: ignore[attr-defined]
            yield name, read_json(stream, name)
            return
        for number, record in enumerate(json_items(stream, name)):
            yield f"{name}[{number}]", record
