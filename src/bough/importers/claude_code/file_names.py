"""Which files belong together: the sessions of a project, and the subagents of each session."""

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
    """The id of the subagent whose file this is; None for a session's."""
    match = _AGENT.fullmatch(PurePosixPath(name).name)
    return match[1] if match else None


def session_id(name: str) -> str | None:
    """The session that a subagent's file lies under; None where files of all kinds lie side by side."""
    parts = PurePosixPath(name).parts
    return parts[parts.index(SUBAGENTS) - 1] if SUBAGENTS in parts[1:] else None


def _project(name: str) -> str:
    parts = PurePosixPath(name).parts
    return "/".join(parts[: parts.index(SUBAGENTS) - 1] if SUBAGENTS in parts[1:] else parts[:-1])


def raw_lines(files: Files, name: str) -> Iterator[bytes]:
    """The lines of a file as they are, for a quick look."""
    with files.open(name) as stream:
        while line := stream.readline(LONGEST_LINE):
            yield line
