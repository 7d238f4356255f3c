"""Cline, Roo Code and Kilo Code: a directory per task with the messages and what the screen showed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path, PurePosixPath

from bough.errors import ImporterError
from bough.importers.cline.task import API, UI, Task
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import read_json
from bough.importers.common.order import latest_last
from bough.importers.common.paths import config_directory
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

NAME = "cline"
EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


class Cline:
    """Reads the tasks of an extension, or one task."""

    name = NAME
    title = "Cline, Roo Code and Kilo Code"

    def recognises(self, path: Path) -> bool:
        if path.is_file():
            return path.name == API or (path.name == UI and (path.parent / API).is_file())
        with open_files(path) as files:
            return any(PurePosixPath(name).name == API for name in files.names)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        root = path.parent if path.is_file() and path.name in (API, UI) else path
        with open_files(root) as files:
            tasks = []
            for name in files.names:
                if PurePosixPath(name).name != API:
                    continue
                try:
                    tasks.append(_task(files, name, root))
                except ImporterError as error:
                    yield Skipped(name, str(error))
            for task in latest_last(tasks, attrgetter("ended"), attrgetter("id")):
                yield task.conversation()

    def default_paths(self) -> list[Path]:
        roots = [config_directory() / editor / "User" / "globalStorage" for editor in EDITORS]
        if sys.platform.startswith("linux"):
            roots.append(Path.home() / ".vscode-server" / "data" / "User" / "globalStorage")
        found = [root / extension / "tasks" for root in roots for extension in EXTENSIONS]
        own = os.environ.get("CLINE_DIR")
        found.append((Path(own) if own else Path.home() / ".cline") / "data" / "tasks")
        return [path for path in found if path.is_dir()]


def _task(files: Files, name: str, root: Path) -> Task:
    folder = name.removesuffix(API)
    id = PurePosixPath(folder).name or root.absolute().name

    def read(file: str) -> Json:
        if f"{folder}{file}" not in files.names:
            return None
        with files.open(f"{folder}{file}") as stream:
            return read_json(stream, f"{folder}{file}")

    messages = read(API)
    if not isinstance(messages, list):
        raise ImporterError(f"{name} is not a list of messages.")
    try:
        shown = read(UI)
    except ImporterError:  # only times, tokens and the title are lost with it
        shown = None
    return Task(id, name, messages, shown if isinstance(shown, list) else [])


IMPORTER: Importer = Cline()
