"""Codex: a rollout per thread, a log of JSON lines, plain or compressed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bough.history import Conversation, Skipped
from bough.importers.codex.items import read_event
from bough.importers.codex.threads import NAME, Threads, is_rollout, read_lines
from bough.importers.files import Files, open_files
from bough.importers.reading import Line

FILES_TO_TRY = 5
LINES_TO_TRY = 5


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
        with open_files(path) as files:
            yield from Threads(files, path).conversations()

    def places(self) -> list[Path]:
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return [place for name in ("sessions", "archived_sessions") if (place := home / name).is_dir()]


def _is_ours(files: Files, name: str) -> bool:
    """Whether one of the first lines says whose thread it is."""
    for line in islice(read_lines(files, name), LINES_TO_TRY):
        event = read_event(line.value) if isinstance(line, Line) else None
        if event and event.kind == "session_meta" and "id" in event.payload:
            return True
    return False


IMPORTER = Codex()
