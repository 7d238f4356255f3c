"""GitHub Copilot Chat in VS Code: a file per session, JSON or a log of changes, and its exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bough.errors import ImporterError
from bough.formats.payload import text_or_none
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines, read_json, text_start
from bough.importers.common.linked import linked
from bough.importers.common.order import latest_last
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.importers.common.vscode import user_directories, workspace_folder
from bough.importers.copilot.change_log import replay
from bough.importers.copilot.requests import finished_at, model_of, question, read_reply
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Item, Skipped

NAME = "copilot"
FOLDERS = ("chatSessions", "emptyWindowChatSessions")
EDITORS = ("Code", "Code - Insiders", "VSCodium")
KEPT = ("responderUsername", "initialLocation", "mode", "selectedModel", "version")


class Copilot:
    """Reads the sessions of an editor, of a workspace, or one session."""

    name = NAME
    title = "GitHub Copilot Chat"

    def recognises(self, path: Path) -> bool:
        if path.is_dir():
            with open_files(path) as files:
                return any(_is_session_name(name) for name in files.names)
        text = text_start(path)
        if not text.startswith("{") or path.suffix not in (".json", ".jsonl"):
            return False
        is_log = text.startswith('{"kind":0') and '"requests"' in text
        return is_log or ('"requests"' in text and ('"responderUsername"' in text or '"requesterUsername"' in text))

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            sessions = []
            for name in files.names:
                if not (path.is_file() or _is_session_name(name)):
                    continue
                try:
                    sessions.append((name, _session(files, name)))
                except ImporterError as error:
                    yield Skipped(name, str(error))
            for name, (session, skipped) in latest_last(sessions, _last_used, lambda one: one[0]):
                file = path if path.is_file() else path / name
                yield from skipped
                if isinstance(session.get("requests"), list):
                    yield _conversation(session, PurePosixPath(name).stem, _folder(file))
                else:
                    yield Skipped(name, "It is not a chat session: it has no requests.", None)

    def default_paths(self) -> list[Path]:
        found = []
        for user in user_directories(*EDITORS):
            storage = user / "workspaceStorage"
            found += [storage] if any(storage.glob("*/chatSessions/*.json*")) else []
            empty = user / "globalStorage" / FOLDERS[1]
            found += [empty] if empty.is_dir() else []
        return found


def _is_session_name(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix in (".json", ".jsonl") and bool(set(FOLDERS) & set(path.parts[:-1]))


def _session(files: Files, name: str) -> tuple[dict[str, Json], list[Skipped]]:
    """The session of a file. Raises `ImporterError`."""
    skipped: list[Skipped] = []
    with files.open(name) as stream:
        if name.endswith(".jsonl"):
            lines = list(json_lines(stream, name))
            skipped = [line for line in lines if isinstance(line, Skipped)]
            value = replay((line.value for line in lines if isinstance(line, Line)), name, skipped)
        else:
            value = read_json(stream, name)
    if not isinstance(value, dict):
        raise ImporterError(f"{name} is not a chat session.")
    return value, skipped


def _last_used(session: tuple[str, tuple[dict[str, Json], list[Skipped]]]) -> int:
    about = session[1][0]
    return from_any(about.get("lastMessageDate")) or from_any(about.get("creationDate")) or 0


def _folder(file: Path) -> str | None:
    """The folder of the workspace whose storage the file is in."""
    return workspace_folder(file.absolute().parent.parent) if file.parent.name == FOLDERS[0] else None


def _conversation(session: dict[str, Json], name: str, directory: str | None) -> Conversation:
    requests = [one for one in session["requests"] if isinstance(one, dict)]
    models = [model for one in requests if (model := model_of(one))]
    id = text_or_none(session.get("sessionId")) or name
    kept = {key: session[key] for key in KEPT if session.get(key)}
    return Conversation(
        NAME,
        id,
        _items(id, requests),
        title=text_or_none(session.get("customTitle")) or (shortened(question(requests[0]).text) if requests else None),
        directory=directory,
        model=models[-1] if models else None,
        created_at=from_any(session.get("creationDate")),
        updated_at=from_any(session.get("lastMessageDate")),
        extra={NAME: kept} if kept else None,
    )


def _items(session: str, requests: list[dict[str, Json]]) -> Iterator[Item]:
    parent = None
    for number, request in enumerate(requests):
        name, time = text_or_none(request.get("requestId")) or f"{session}:{number}", from_any(request.get("timestamp"))
        asked = linked(name, [question(request)], parent, time)
        replied = linked(
            text_or_none(request.get("responseId")) or f"{name}:response", read_reply(request), asked[-1].id,
            finished_at(request), model=model_of(request), finished=request.get("isCanceled") is not True,
            provider="github",
        )  # fmt: skip
        parent = (replied or asked)[-1].id
        yield from [*asked, *replied]


IMPORTER: Importer = Copilot()
