"""Mistral Vibe: a directory per session with `meta.json` and `messages.jsonl`, or one JSON file of older versions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bough.errors import FormatError, ImporterError
from bough.formats import get
from bough.formats.payload import at, count, text_or_none
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines, read_json
from bough.importers.common.linked import linked
from bough.importers.common.order import latest_last
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.importers.types import Importer
from bough.model import Json, Usage
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

NAME = "vibe"
META, MESSAGES = "meta.json", "messages.jsonl"


class SessionLog(NamedTuple):
    """The metadata of a session, and where its messages are."""

    name: str
    meta: dict[str, Json]
    ended: int
    session: str


class Vibe:
    """Reads `~/.vibe/logs/session`, or one session of it."""

    name = NAME
    title = "Mistral Vibe"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.name == MESSAGES:
            path = path.parent
        with open_files(path) as files:
            return next(_logs(files), None) is not None

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        path = path.parent if path.is_file() and path.name in (META, MESSAGES) else path
        with open_files(path) as files:
            for log in latest_last(_logs(files), lambda log: log.ended, lambda log: log.name):
                yield _conversation(files, log)

    def default_paths(self) -> list[Path]:
        own = os.environ.get("VIBE_HOME")
        root = (Path(own).expanduser() if own else Path.home() / ".vibe") / "logs" / "session"
        return [root] if root.is_dir() else []


def _logs(files: Files) -> Iterator[SessionLog]:
    names = set(files.names)
    for name in files.names:
        path = PurePosixPath(name)
        messages = (path.parent / MESSAGES).as_posix()
        is_meta, is_whole = path.name == META and messages in names, _is_old_name(path, len(names) == 1)
        if not (is_meta or is_whole):
            continue
        try:
            with files.open(name) as stream:
                value = read_json(stream, name)
        except ImporterError:
            continue
        meta = value if is_meta else at(value, "metadata") if isinstance(at(value, "messages"), list) else None
        if isinstance(meta, dict) and isinstance(session := meta.get("session_id"), str) and "environment" in meta:
            ended = from_any(meta.get("end_time")) or from_any(meta.get("start_time")) or 0
            yield SessionLog(messages if is_meta else name, meta, ended, session)


def _is_old_name(path: PurePosixPath, alone: bool) -> bool:
    return path.suffix == ".json" and (alone or path.name.startswith("session_"))


def _conversation(files: Files, log: SessionLog) -> Conversation:
    meta = log.meta
    items = list(_items(files, log))
    said = (one.message for one in items if isinstance(one, ImportedMessage))
    prompt = next((message.text for message in said if message.role == "user"), "")
    rest = {key: meta[key] for key in ("stats", "git_branch", "git_commit", "title", "loops") if meta.get(key)}
    return Conversation(
        NAME,
        log.session,
        items,
        title=text_or_none(meta.get("title")) or shortened(prompt),
        directory=text_or_none(at(meta, "environment", "working_directory")),
        model=_model(meta),
        parent=text_or_none(meta.get("parent_session_id")) if meta.get("agent_name") == "subagent" else None,
        created_at=from_any(meta.get("start_time")),
        updated_at=from_any(meta.get("end_time")),
        extra={NAME: rest} if rest else None,
    )


def _model(meta: dict[str, Json]) -> str | None:
    return text_or_none(at(meta, "config", "active_model")) or text_or_none(at(meta, "agent_config", "active_model"))


def _items(files: Files, log: SessionLog) -> Iterator[Item]:
    decode, parent, model = get("openai.chat").decode, None, _model(log.meta)
    places = list(_records(files, log))
    ids = chained([record for record in map(itemgetter(1), places) if not isinstance(record, Skipped)], log.session)
    last = max((n for n, (_, one) in enumerate(places) if at(one, "role") == "assistant"), default=-1)
    time = from_any(log.meta.get("start_time"))
    for number, (place, record) in enumerate(places):
        if isinstance(record, Skipped):
            yield record
            continue
        chain = next(ids)
        given = text_or_none(at(record, "message_id"))
        try:
            messages = decode([record]).messages
        except FormatError as error:
            yield Skipped(place, str(error), record)
            continue
        # Vibe counts the tokens of a session; they are those of its last reply, so that sums are right.
        usage = _usage(log.meta) if number == last else None
        made = linked(
            f"{log.session}:{given or chain}", messages, parent, None if parent else time, model=model, usage=usage
        )
        parent = made[-1].id if made else parent
        yield from made


def _records(files: Files, log: SessionLog) -> Iterator[tuple[str, Json | Skipped]]:
    with files.open(log.name) as stream:
        if log.name.endswith(".jsonl"):
            for line in json_lines(stream, log.name):
                yield line.place, line.value if isinstance(line, Line) else line
        else:
            for number, record in enumerate(at(read_json(stream, log.name), "messages")):
                yield f"{log.name}.messages[{number}]", record


def _usage(meta: dict[str, Json]) -> Usage | None:
    stats = meta.get("stats")
    cost = at(stats, "session_cost")
    usage = Usage(
        count(stats, "session_prompt_tokens"), count(stats, "session_completion_tokens"),
        cost=float(cost) if isinstance(cost, (int, float)) else None,
    )  # fmt: skip
    return None if usage == Usage() else usage


IMPORTER: Importer = Vibe()
