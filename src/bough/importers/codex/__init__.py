"""Codex: one log of JSON lines per thread, plain or compressed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bough.importers.codex.items import read_event
from bough.importers.codex.threads import NAME, RolloutDirectory, is_rollout, rollout_lines
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line
from bough.importers.types import Importer
from bough.model.imported import Conversation, Skipped

FILES_TO_TRY = 5
LINES_TO_TRY = 5
"""How far recognition looks: the first files may be empty, and the first lines metadata."""
HOMES = ("sessions", "archived_sessions")


class Codex:
    """Reads `~/.codex/sessions` and `archived_sessions`, or one rollout."""

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
            yield from RolloutDirectory(files, path, only).conversations()

    def default_paths(self) -> list[Path]:
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return [path for name in HOMES if (path := home / name).is_dir()]


def _home(path: Path) -> Path:
    """The directory with the rollouts that a single one may continue; otherwise the path itself."""
    if path.is_dir() or path.is_symlink():
        return path
    return next((above for above in path.absolute().parents if above.name in HOMES), path)


def _is_ours(files: Files, name: str) -> bool:
    """Whether one of the first lines has the id of a thread."""
    for line in islice(rollout_lines(files, name), LINES_TO_TRY):
        event = read_event(line.value) if isinstance(line, Line) else None
        if event and event.kind == "session_meta" and "id" in event.payload:
            return True
    return False


IMPORTER: Importer = Codex()
