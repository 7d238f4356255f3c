"""gptme: a directory per conversation, with a JSONL file for it and one for each of its branches."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from bough.formats.payload import at, text_or_none
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.order import last_time
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.titles import shortened
from bough.importers.gptme.messages import FAMILY, Messages, is_message, said_at, usage
from bough.model import Json
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

NAME = FAMILY
MAIN = "conversation.jsonl"
_BACKUP = re.compile(r".*-(edit|undo)-\d+")


class Gptme:
    """The logs of gptme: all of them, or one."""

    name = NAME
    title = "gptme"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.name != MAIN:
            return False
        with open_files(path) as files:
            return any(_is_ours(files, name) for name in islice(filter(_is_main, files.names), 5))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        place = path.parent if path.is_file() and path.name == MAIN else path
        with open_files(place) as files:
            for name in sorted(filter(_is_main, files.names), key=lambda name: _last_used(files, name)):
                yield Log(files, place, name.removesuffix(MAIN)).conversation()

    def default_paths(self) -> list[Path]:
        own, data = os.environ.get("GPTME_LOGS_HOME"), os.environ.get("XDG_DATA_HOME")
        place = Path(own) if own else (Path(data) if data else Path.home() / ".local" / "share") / "gptme" / "logs"
        return [place] if place.is_dir() else []


def _is_main(name: str) -> bool:
    return PurePosixPath(name).name == MAIN


def _is_ours(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    return isinstance(first, Line) and is_message(first.value)


def _last_used(files: Files, name: str) -> int:
    with files.open(name) as stream:
        return last_time(stream)


class Log:
    """One conversation. Branches are copies of the whole log: what they share is found by what was said."""

    def __init__(self, files: Files, place: Path, directory: str) -> None:
        self._files = files
        self._place = place
        self._directory = directory
        self._name = PurePosixPath(directory).name or place.absolute().name
        self._messages = Messages(files, directory)
        self._branches = [one for one in files.names if one.startswith((f"{directory}branches/", f"{directory}views/"))]
        self._branches = [one for one in self._branches if one.endswith(".jsonl") and not one.endswith("events.jsonl")]

    def conversation(self) -> Conversation:
        config = self._config()
        own = self._directory + MAIN
        model = text_or_none(at(config, "chat", "model"))
        return Conversation(
            NAME,
            self._name,
            self._items(),
            head=self._end(own),
            heads=tuple(self._heads()),
            title=text_or_none(at(config, "chat", "name")) or self._prompt(own) or self._name,
            directory=self._workspace(config),
            model=model,
            extra={NAME: config} if config else None,
        )

    def _heads(self) -> Iterator[Head]:
        """Branches that the user made; those that gptme makes before an edit are branches without a session."""
        for name in self._branches:
            branch = PurePosixPath(name).stem
            if "/branches/" in f"/{name}" and not _BACKUP.fullmatch(branch) and (end := self._end(name)):
                yield Head(f"{NAME}:{self._name}:{branch}", end, title=branch)

    def _items(self) -> Iterator[Item]:
        told: set[str] = set()
        for name in (self._directory + MAIN, *self._branches):
            for item in self._branch(name):
                if isinstance(item, Skipped) or item.id not in told:
                    yield item
                if isinstance(item, ImportedMessage):
                    told.add(item.id)

    def _branch(self, name: str) -> Iterator[ImportedMessage | Skipped]:
        parent: str | None = None
        for line in self._named(name):
            if isinstance(line, Skipped):
                yield line
                continue
            said, record = line
            metadata = record.get("metadata")
            message = self._messages.read(record)
            model = text_or_none(at(metadata, "model")) if message.role == "assistant" else None
            time = said_at(record) or self._written(name)
            yield ImportedMessage(said, message, parent, time, model=model, usage=usage(metadata))
            parent = said

    def _written(self, name: str) -> int | None:
        """When a file was last written: old logs say nothing else about time."""
        path = self._place / name
        return int(path.stat().st_mtime * 1_000_000) if path.is_file() else None

    def _named(self, name: str) -> Iterator[tuple[str, dict[str, Json]] | Skipped]:
        """The messages of a branch, each with a name that is made of itself and all before it."""
        said = self._name
        with self._files.open(name) as stream:
            for line in json_lines(stream, name):
                if isinstance(line, Skipped):
                    yield line
                elif is_message(line.value):
                    said = next(chained([[line.value["role"], line.value["content"]]], said))
                    yield said, line.value
                else:
                    yield Skipped(line.place, "not a message", line.value)

    def _end(self, name: str) -> str | None:
        end = None
        for line in self._named(name):
            end = end if isinstance(line, Skipped) else line[0]
        return end

    def _prompt(self, name: str) -> str | None:
        said = (line[1] for line in self._named(name) if not isinstance(line, Skipped))
        return next((shortened(record["content"]) for record in said if record["role"] == "user"), None)

    def _workspace(self, config: dict[str, Json]) -> str | None:
        """Where it worked: a link beside the log says so, or the configuration."""
        link = self._place / self._directory / "workspace"
        if link.is_symlink():
            return str(link.readlink())
        named = text_or_none(at(config, "chat", "workspace"))
        return None if named and named.startswith("@") else named

    def _config(self) -> dict[str, Json]:
        name = f"{self._directory}config.toml"
        if name not in self._files.names:
            return {}
        try:
            with self._files.open(name) as stream:
                config = tomllib.load(stream)
            return {key: value for key, value in config.items() if key == "chat"}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            return {}


IMPORTER = Gptme()
