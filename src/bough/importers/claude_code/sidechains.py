"""The subagents' lines in the middle of a session's file, as older versions wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from bough.importers.claude_code.metadata import prompt_of
from bough.importers.claude_code.records import Record
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.model.imported import Skipped
from bough.model.values import replace


class Sides:
    """Tells a session's own lines from those of its subagents, and remembers where these stand."""

    def __init__(self, files: Files, name: str) -> None:
        self.prompts: dict[str, str] = {}
        """What each subagent was asked, by the first of its lines."""
        self._files = files
        self._name = name
        self._places: dict[str, list[tuple[int, str]]] = {}
        self._roots: dict[str, str] = {}

    def main(self) -> Iterator[Line | Skipped]:
        """The session's own lines."""
        with self._files.open(self._name) as stream:
            offset = stream.tell()
            for line in json_lines(stream, self._name):
                if isinstance(line, Line) and isinstance(line.value, dict) and line.value.get("isSidechain") is True:
                    self._note(line.value, offset, line.place)
                else:
                    yield line
                offset = stream.tell()

    def of(self, root: str) -> Iterator[Line | Skipped]:
        """The lines of one subagent, which `main` has passed by."""
        with self._files.open(self._name) as stream:
            for offset, place in self._places[root]:
                stream.seek(offset)
                line = next(json_lines(stream, self._name))
                yield replace(line, place=place)

    def _note(self, record: Record, offset: int, place: str) -> None:
        name = str(record.get("uuid"))
        root = self._roots.setdefault(name, self._roots.get(str(record.get("parentUuid")), name))
        self.prompts.setdefault(root, prompt_of(record) or "")
        self._places.setdefault(root, []).append((offset, place))
