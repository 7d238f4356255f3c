"""Codex: a rollout per thread, a log of JSON lines, plain or compressed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bough.importers.codex.items import read_event
from bough.importers.codex.threads import NAME, Threads, is_rollout, read_lines
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line
from bough.model.imported import Conversation, Skipped

FILES_TO_TRY = 5
LINES_TO_TRY = 5
HOMES = ("sessions", "archived_sessions")


class Codex:
    """The files under `~/.codex/sessions` and `archived_sessions`: all of them, or one."""

    name = NAME
    title = "Codex"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and not is_rollout(path.name):
            return False
        with open_files(path) as files:
            return any(_is_ours(files, name) for name in islice(filter(is_rollout, files.names), FILES_TO_TRY))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        home = _home(path)
        only = None if home == path else path.absolute().relative_to(home).as_posix()
        with open_files(home) as files:
            yield from Threads(files, path, only).conversations()

    def places(self) -> list[Path]:
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return [place for name in HOMES if (place := home / name).is_dir()]


def _home(path: Path) -> Path:
    """Where the rollouts lie that a single one may continue; the path itself for a directory, or one elsewhere."""
    if path.is_dir() or path.is_symlink():
        return path
    return next((above for above in path.absolute().parents if above.name in HOMES), path)


def _is_ours(files: Files, name: str) -> bool:
    """Whether one of the first lines says whose thread it is."""
    for line in islice(read_lines(files, name), LINES_TO_TRY):
        event = read_event(line.value) if isinstance(line, Line) else None
        if event and event.kind == "session_meta" and "id" in event.payload:
            return True
    return False


IMPORTER = Codex()
