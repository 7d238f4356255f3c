"""Gemini CLI, and its relatives Qwen Code and iFlow: a file per session, JSON or JSON lines, and one per subagent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path, PurePosixPath

from bough.errors import ImporterError
from bough.formats.payload import text_or_none
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines, read_json
from bough.importers.common.order import eldest, latest_last
from bough.importers.common.synthetic_ids import parents_first
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.importers.gemini_cli.messages import text_of
from bough.importers.gemini_cli.recording import SessionRecording, is_session
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

NAME = "gemini-cli"
HOMES = (".gemini", ".qwen", ".iflow")
FILES_TO_TRY = 40
KEPT = ("kind", "directories", "memoryScratchpad", "projectHash")


class GeminiCLI:
    """Reads `~/.gemini/tmp`, a project of it, or one session."""

    name = NAME
    title = "Gemini CLI"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.suffix not in (".json", ".jsonl"):
            return False
        with open_files(path) as files:
            candidates = [name for name in files.names if _may_be_session(name) or path.is_file()]
            return any(_header(files, name) is not None for name in islice(candidates, FILES_TO_TRY))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            recordings = []
            for name in files.names:
                if (_may_be_session(name) or path.is_file()) and _header(files, name) is not None:
                    try:
                        recordings.append(_recording(files, name))
                    except ImporterError as error:
                        yield Skipped(name, str(error))
            calls = {agent: call for recording in recordings for agent, call in recording.agents.items()}
            parents = {recording.session: recording.parent for recording in recordings}
            family, place = eldest(parents), {id: n for n, (id, _) in enumerate(parents_first(parents))}
            recordings.sort(key=lambda one: place[one.session])
            for recording in latest_last(recordings, attrgetter("ended"), lambda one: family[one.session]):
                yield _conversation(files, path, recording, calls)

    def default_paths(self) -> list[Path]:
        found = (Path.home() / home / "tmp" for home in HOMES)
        return [path for path in found if path.is_dir() and any(path.glob("*/chats/*.json*"))]


def _may_be_session(name: str) -> bool:
    path = PurePosixPath(name)
    is_inside = "chats" in path.parts[:-1] or path.name.startswith("session-")
    return is_inside and path.suffix in (".json", ".jsonl")


def _header(files: Files, name: str) -> Json:
    """The metadata of a session; None if the file is none."""
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    value = first.value if isinstance(first, Line) else None
    if value is None and name.endswith(".json"):
        try:
            with files.open(name) as stream:
                value = read_json(stream, name)
        except ImporterError:
            return None
    return value if is_session(value) else None


def _recording(files: Files, name: str) -> SessionRecording:
    recording = SessionRecording(name)
    with files.open(name) as stream:
        if name.endswith(".jsonl"):
            for line in json_lines(stream, name):
                recording.add(line)
        else:
            recording.add(Line(1, read_json(stream, name), name))
    return recording


def _conversation(
    files: Files, root: Path, recording: SessionRecording, calls: dict[str, tuple[str, str, str]]
) -> Conversation:
    about = recording.about
    call = calls.get(PurePosixPath(recording.name).stem) or calls.get(recording.session)
    kept = {key: about[key] for key in KEPT if about.get(key)}
    return Conversation(
        NAME,
        recording.session,
        recording.items(),
        head=recording.head,
        title=text_or_none(about.get("summary")) or shortened(recording.prompt),
        directory=_directory(files, root, recording),
        model=recording.model,
        agent=(call[2] if call else "subagent") if about.get("kind") == "subagent" else None,
        parent=recording.parent,
        parent_message=call[0] if call else None,
        parent_call=call[1] if call else None,
        created_at=from_iso(about.get("startTime")),
        updated_at=from_iso(about.get("lastUpdated")),
        extra={NAME: kept} if kept else None,
    )


def _directory(files: Files, root: Path, recording: SessionRecording) -> str | None:
    """The project's directory, which newer versions write beside the chats."""
    parts = PurePosixPath(recording.name).parts
    if "chats" in parts[:-1]:
        marker = PurePosixPath(*parts[: parts.index("chats")], ".project_root").as_posix()
        if marker in files.names:
            with files.open(marker) as stream:
                return text_of(stream.read(4096).decode("utf-8", "replace")).strip() or None
    file = root if root.is_file() else root / recording.name
    above = next((parent.parent for parent in file.parents if parent.name == "chats"), None)
    outside = above / ".project_root" if above else None
    if outside is not None and outside.is_file():
        return outside.read_text("utf-8", "replace").strip() or None
    return None


IMPORTER: Importer = GeminiCLI()
