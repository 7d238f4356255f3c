"""Files that imports have read, so that unchanged ones are not read again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from bough.db import Database
from bough.model.ids import is_plain


class ImportedFile(NamedTuple):
    """What a file was like when it was read. Two equal values are the same content read in the same way."""

    size: int
    mtime: int
    """Nanoseconds."""
    tail: bytes
    """Hash of its last bytes."""
    reader: str
    """The version of bough that read it: a newer one may understand more."""


def imported_files(db: Database, path: str) -> dict[str, tuple[str, ImportedFile]]:
    """The files at and below a path that were read, by their paths, each with the importer that read it."""
    if not is_plain(path):
        return {}
    # Everything below a directory is between its path and the character after the separator, and `chats.old` too.
    rows = db.rows("imported_files", path, path + chr(ord(os.sep) + 1))
    inside = ((file, source, rest) for file, source, *rest in rows if file == path or file.startswith(path + os.sep))
    return {file: (source, ImportedFile(*rest)) for file, source, rest in inside}


def put_imported_files(db: Database, source: str, files: Mapping[str, ImportedFile]) -> None:
    """Remembers files as read. One whose path is not Unicode is left out: it is read again the next time."""
    rows = [(path, source, *file) for path, file in files.items() if is_plain(path)]
    db.run_many("put_imported_file", rows)
