"""What earlier imports have read of a directory, so that unchanged files are not read again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import bough
from bough.importers.directories import Found, walk
from bough.storage.imported_files import ImportedFile, imported_files, put_imported_files

if TYPE_CHECKING:
    from bough.store import Store

TAIL = 4096
"""Bytes at the end of a file that are hashed: a log that was rewritten in the same second differs there."""
NOBODYS = ""
"""The source of files that no importer reads."""


class ImportLedger:
    """The files at a path now, and those that were read. A file that is named itself is always read."""

    def __init__(self, store: Store, path: Path, again: bool = False) -> None:
        self._store = store
        self.path = path
        self.files: dict[str, ImportedFile] = {}
        self._known: dict[str, tuple[str, ImportedFile]] = {}
        if path.is_dir():
            self.files = {os.path.abspath(file): state for file in walk(path) if (state := file_state(file))}
            self._known = {} if again else imported_files(store.db, os.path.abspath(path))

    def owner(self, file: str) -> str | None:
        """The importer that has read a file, if the file is unchanged; empty if no importer reads it."""
        file = os.path.abspath(file)
        source, state = self._known.get(file, (None, None))
        return source if state is not None and state == self.files.get(file) else None

    @property
    def changed(self) -> list[str]:
        """The files that are new or were changed since they were read."""
        return [file for file in self.files if self.owner(file) is None]

    @property
    def unchanged(self) -> dict[str, int]:
        """The number of unchanged files by the importer that has read them."""
        return Counter(owner for file in self.files if (owner := self.owner(file)))

    def remember(self, found: Found) -> None:
        """Remembers what an importer has read."""
        own = self._below(found.path)
        self._put(found.importer.name, (file for file in own if file not in _absolute(found.excluded)))

    def remember_rest(self, found: Iterable[Found]) -> None:
        """Remembers the files that no importer reads, after everything was read."""
        read = {os.path.abspath(one.path) for one in found}
        if os.path.abspath(self.path) not in read:
            self._put(NOBODYS, (file for file in self.files if file not in read))

    def _below(self, path: Path) -> Iterable[str]:
        root = os.path.abspath(path)
        return [file for file in self.files if file == root or file.startswith(root + os.sep)]

    def _put(self, source: str, files: Iterable[str]) -> None:
        states = {file: self.files[file] for file in files if self.owner(file) is None}
        if states:
            self._store.write(lambda _: put_imported_files(self._store.db, source, states))


def _absolute(files: Iterable[str]) -> set[str]:
    return {os.path.abspath(file) for file in files}


def file_state(file: str) -> ImportedFile | None:
    """The state of a file now; None if it cannot be read."""
    with suppress(OSError):
        with open(file, "rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            stream.seek(max(0, status.st_size - TAIL))
            tail = blake2b(stream.read(TAIL), digest_size=16).digest()
        return ImportedFile(status.st_size, status.st_mtime_ns, tail, bough.__version__)
    return None
