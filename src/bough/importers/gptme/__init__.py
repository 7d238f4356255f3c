"""gptme: a directory per conversation with a JSONL file for each branch."""

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
from bough.importers.common.paths import xdg_data_directory
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.titles import shortened
from bough.importers.gptme.messages import FAMILY, MessageReader, is_message, usage, written_at
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

NAME = FAMILY
MAIN = "conversation.jsonl"
_BACKUP = re.compile(r".*-(edit|undo)-\d+")


class Gptme:
    """Reads all logs of gptme, or one."""

    name = NAME
    title = "gptme"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.name != MAIN:
            return False
        with open_files(path) as files:
            return any(_is_ours(files, name) for name in islice(filter(_is_main, files.names), 5))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        root = path.parent if path.is_file() and path.name == MAIN else path
        with open_files(root) as files:
            for name in sorted(filter(_is_main, files.names), key=lambda name: _last_used(files, name)):
                yield ConversationLog(files, root, name.removesuffix(MAIN)).conversation()

    def default_paths(self) -> list[Path]:
        own = os.environ.get("GPTME_LOGS_HOME")
        root = Path(own) if own else xdg_data_directory() / "gptme" / "logs"
        return [root] if root.is_dir() else []


def _is_main(name: str) -> bool:
    return PurePosixPath(name).name == MAIN


def _is_ours(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    return isinstance(first, Line) and is_message(first.value)


def _last_used(files: Files, name: str) -> int:
    with files.open(name) as stream:
        return last_time(stream)


class ConversationLog:
    """One conversation. A branch is a copy of the whole log; equal beginnings get equal ids."""

    def __init__(self, files: Files, root: Path, directory: str) -> None:
        self._files = files
        self._root = root
        self._directory = directory
        self._name = PurePosixPath(directory).name or root.absolute().name
        self._messages = MessageReader(files, directory)
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
            head=self._last_id(own),
            heads=tuple(self._heads()),
            title=text_or_none(at(config, "chat", "name")) or self._prompt(own) or self._name,
            directory=self._workspace(config),
            model=model,
            extra={NAME: config} if config else None,
        )

    def _heads(self) -> Iterator[Head]:
        """The branches of the user; the backups that gptme makes before an edit get no session."""
        for name in self._branches:
            branch = PurePosixPath(name).stem
            if "/branches/" in f"/{name}" and not _BACKUP.fullmatch(branch) and (end := self._last_id(name)):
                yield Head(f"{NAME}:{self._name}:{branch}", end, title=branch)

    def _items(self) -> Iterator[Item]:
        seen: set[str] = set()
        for name in (self._directory + MAIN, *self._branches):
            for item in self._branch(name):
                if isinstance(item, Skipped) or item.id not in seen:
                    yield item
                if isinstance(item, ImportedMessage):
                    seen.add(item.id)

    def _branch(self, name: str) -> Iterator[ImportedMessage | Skipped]:
        parent: str | None = None
        for line in self._records(name):
            if isinstance(line, Skipped):
                yield line
                continue
            message_id, record = line
            metadata = record.get("metadata")
            message = self._messages.read(record)
            model = text_or_none(at(metadata, "model")) if message.role == "assistant" else None
            time = written_at(record) or self._file_time(name)
            yield ImportedMessage(message_id, message, parent, time, model=model, usage=usage(metadata))
            parent = message_id

    def _file_time(self, name: str) -> int | None:
        """The modification time of a file, for old logs without timestamps."""
        path = self._root / name
        return int(path.stat().st_mtime * 1_000_000) if path.is_file() else None

    def _records(self, name: str) -> Iterator[tuple[str, dict[str, Json]] | Skipped]:
        """The messages of a branch, each with an id derived from itself and all before it."""
        message_id = self._name
        with self._files.open(name) as stream:
            for line in json_lines(stream, name):
                if isinstance(line, Skipped):
                    yield line
                elif is_message(line.value):
                    message_id = next(chained([[line.value["role"], line.value["content"]]], message_id))
                    yield message_id, line.value
                else:
                    yield Skipped(line.place, "It is not a message.", line.value)

    def _last_id(self, name: str) -> str | None:
        end = None
        for line in self._records(name):
            end = end if isinstance(line, Skipped) else line[0]
        return end

    def _prompt(self, name: str) -> str | None:
        message_id = (line[1] for line in self._records(name) if not isinstance(line, Skipped))
        return next((shortened(record["content"]) for record in message_id if record["role"] == "user"), None)

    def _workspace(self, config: dict[str, Json]) -> str | None:
        """The working directory, from a link in the directory of the log or from the configuration."""
        link = self._root / self._directory / "workspace"
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


IMPORTER: Importer = Gptme()
