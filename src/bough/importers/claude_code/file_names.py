"""Group file names: the sessions of a project, and the subagents of a session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from bough.importers.common.files import Files
from bough.importers.common.json_reader import LONGEST_LINE

SUBAGENTS = "subagents"
_AGENT = re.compile(r"agent-(.+)\.jsonl")


def projects(names: Iterable[str]) -> list[list[str]]:
    """The files of each project."""
    found: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".jsonl"):
            found.setdefault(_project(name), []).append(name)
    return list(found.values())


def stem(name: str) -> str:
    return PurePosixPath(name).stem


def agent_id(name: str) -> str | None:
    """The id of the subagent that the file belongs to; None for a session's file."""
    match = _AGENT.fullmatch(PurePosixPath(name).name)
    return match[1] if match else None


def session_id(name: str) -> str | None:
    """The session whose directory holds a subagent's file; None if all files are in one directory."""
    parts = PurePosixPath(name).parts
    return parts[parts.index(SUBAGENTS) - 1] if SUBAGENTS in parts[1:] else None


def _project(name: str) -> str:
    parts = PurePosixPath(name).parts
    return "/".join(parts[: parts.index(SUBAGENTS) - 1] if SUBAGENTS in parts[1:] else parts[:-1])


def raw_lines(files: Files, name: str) -> Iterator[bytes]:
    """The lines of a file, not parsed."""
    with files.open(name) as stream:
        while line := stream.readline(LONGEST_LINE):
            yield line
