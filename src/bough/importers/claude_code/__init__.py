"""Claude Code: directories of projects with a JSONL file per session and one per subagent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path

from bough.importers.claude_code.file_names import SUBAGENTS, projects
from bough.importers.claude_code.project import NAME, Project
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.order import latest_last
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

FILES_TO_TRY = 20
LINES_TO_TRY = 20
"""How far recognition looks: the first files may be empty, and the first lines metadata."""


class ClaudeCode:
    """Reads `~/.claude/projects`, one project, or one session."""

    name = NAME
    title = "Claude Code"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.suffix != ".jsonl":
            return False
        with open_files(path) as files:
            candidates = (name for name in files.names if name.endswith(".jsonl"))
            return any(_is_ours(files, name) for name in islice(candidates, FILES_TO_TRY))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        path = _session(path)
        alone = path.is_file() and (path.parent / path.stem).is_dir()
        with open_files(path.parent if alone else path) as files:
            own = (path.name, f"{path.stem}/") if alone else ("",)
            wanted = projects(name for name in files.names if name.startswith(own))
            sessions = [session for names in wanted for session in Project(files, names).sessions()]
            sessions.sort(key=attrgetter("began"))
            for session in latest_last(sessions, attrgetter("ended"), attrgetter("family")):
                yield from session.conversations

    def default_paths(self) -> list[Path]:
        home = os.environ.get("CLAUDE_CONFIG_DIR")
        place = (Path(home) if home else Path.home() / ".claude") / "projects"
        return [place] if place.is_dir() else []


def _session(path: Path) -> Path:
    """The path itself; for a subagent's file its session's file, which has the call that started it."""
    above = path.absolute()
    while SUBAGENTS in above.parts and above.name != SUBAGENTS:
        above = above.parent
    session = Path(f"{above.parent}.jsonl")
    return session if above.name == SUBAGENTS and path.is_file() and session.is_file() else path


def _is_ours(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = islice(json_lines(stream, name), LINES_TO_TRY)
        return any(isinstance(line, Line) and _is_message(line.value) for line in first)


def _is_message(record: Json) -> bool:
    if not isinstance(record, dict):
        return False
    if record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict):
        return "parentUuid" in record or "sessionId" in record
    return record.get("type") == "summary" and "leafUuid" in record


IMPORTER: Importer = ClaudeCode()
