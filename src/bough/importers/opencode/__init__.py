"""opencode: its database, and the JSON files of older versions. Both are read: not all sessions were moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.importers.common.files import open_files
from bough.importers.common.paths import xdg_data_directory
from bough.importers.common.position import Spawn
from bough.importers.opencode.database import OpenCodeDatabase, is_opencode
from bough.importers.opencode.storage import Storage, has_sessions
from bough.importers.opencode.tree import NAME
from bough.importers.types import Importer
from bough.model.imported import Conversation, Skipped


class OpenCode:
    """Reads the data directory of opencode, its database, or its `storage`."""

    name = NAME
    title = "opencode"

    def recognises(self, path: Path) -> bool:
        if not path.is_dir():
            return is_opencode(path)
        if _databases(path):
            return True
        with open_files(path) as files:
            return has_sessions(files)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        seen: set[str] = set()
        spawned: dict[str, Spawn] = {}
        for database in _databases(path) if path.is_dir() else [path]:
            yield from OpenCodeDatabase(database, seen, spawned).conversations()
        if path.is_dir():
            with open_files(path) as files:
                yield from Storage(files, seen, spawned).conversations()

    def default_paths(self) -> list[Path]:
        path = xdg_data_directory() / "opencode"
        return [path] if path.is_dir() else []


def _databases(path: Path) -> list[Path]:
    """The databases of all release channels: `opencode.db`, `opencode-stable.db`, …"""
    return [file for file in sorted(path.glob("opencode*.db")) if is_opencode(file)]


IMPORTER: Importer = OpenCode()
