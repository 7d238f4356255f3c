"""Subagents' lines inside a session's file, as older versions of Claude Code wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from bough.importers.claude_code.metadata import prompt_of
from bough.importers.claude_code.records import Record
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.model.imported import Skipped
from bough.model.values import replace


class Sidechains:
    """Separates a session's own lines from those of its subagents, which are read again later."""

    def __init__(self, files: Files, name: str) -> None:
        self.prompts: dict[str, str] = {}
        """The prompt of each subagent, by the uuid of its first line."""
        self._files = files
        self._name = name
        self._offsets: dict[str, list[tuple[int, str]]] = {}
        self._roots: dict[str, str] = {}

    def main_lines(self) -> Iterator[Line | Skipped]:
        """The session's own lines."""
        with self._files.open(self._name) as stream:
            offset = stream.tell()
            for line in json_lines(stream, self._name):
                if isinstance(line, Line) and isinstance(line.value, dict) and line.value.get("isSidechain") is True:
                    self._remember(line.value, offset, line.place)
                else:
                    yield line
                offset = stream.tell()

    def lines_of(self, root: str) -> Iterator[Line | Skipped]:
        """The lines of one subagent; `main_lines` has to be read first."""
        with self._files.open(self._name) as stream:
            for offset, place in self._offsets[root]:
                stream.seek(offset)
                line = next(json_lines(stream, self._name))
                yield replace(line, place=place)

    def _remember(self, record: Record, offset: int, place: str) -> None:
        uuid = str(record.get("uuid"))
        root = self._roots.setdefault(uuid, self._roots.get(str(record.get("parentUuid")), uuid))
        self.prompts.setdefault(root, prompt_of(record) or "")
        self._offsets.setdefault(root, []).append((offset, place))
