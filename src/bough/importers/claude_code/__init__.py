"""Claude Code: a directory of projects, each with a JSONL file per session and one per subagent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bough.history import Conversation, Skipped
from bough.importers.claude_code.files import projects
from bough.importers.claude_code.project import NAME, Project
from bough.importers.files import Files, open_files
from bough.importers.reading import Line, lines
from bough.model import Json

FILES_TO_TRY = 20
LINES_TO_TRY = 20


class ClaudeCode:
    """The files under `~/.claude/projects`: all of them, a project, or a session."""

    name = NAME
    title = "Claude Code"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.suffix != ".jsonl":
            return False
        with open_files(path) as files:
            told = (name for name in files.names if name.endswith(".jsonl"))
            return any(_is_ours(files, name) for name in islice(told, FILES_TO_TRY))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        beside = path.parent / path.stem  # a session that is given alone brings its subagents along
        alone = path.is_file() and beside.is_dir()
        with open_files(path.parent if alone else path) as files:
            mine = (path.name, f"{path.stem}/") if alone else ("",)
            for names in projects(name for name in files.names if name.startswith(mine)):
                yield from Project(files, names).conversations()

    def places(self) -> list[Path]:
        home = os.environ.get("CLAUDE_CONFIG_DIR")
        place = (Path(home) if home else Path.home() / ".claude") / "projects"
        return [place] if place.is_dir() else []


def _is_ours(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = islice(lines(stream, name), LINES_TO_TRY)
        return any(isinstance(line, Line) and _speaks(line.value) for line in first)


def _speaks(record: Json) -> bool:
    if not isinstance(record, dict):
        return False
    if record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict):
        return "parentUuid" in record or "sessionId" in record
    return record.get("type") == "summary" and "leafUuid" in record


IMPORTER = ClaudeCode()
