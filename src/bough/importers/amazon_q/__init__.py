"""Amazon Q CLI's `data.sqlite3` (and Kiro CLI's, its successor), and the JSON files that `/save` writes.

The same file holds the credentials of its user: only the tables `conversations` and `conversations_v2` are read, and
the file is never copied. A row is one state: the history, and around it a tangent's main line and the snapshots of
checkpoints, which are other branches of the same tree.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.errors import ImporterError
from bough.formats.payload import at, text_or_none
from bough.importers.amazon_q.exchanges import Entry, entries
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import parse_json, read_json, text_start
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_milliseconds
from bough.model import Json, user
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

COLUMNS = ("key", "conversation_id", "value", "created_at", "updated_at")
KEPT = ("transcript", "context_manager", "model_info", "latest_summary")
"""Of what a state says besides its history, what is kept with the session."""


class AmazonQ:
    name = "amazon-q"
    title = "Amazon Q CLI"

    def recognises(self, path: Path) -> bool:
        if has_tables(path, conversations=("key", "value")) or has_tables(path, conversations_v2=("key", "value")):
            return True
        start = text_start(path)
        return start.startswith("{") and '"conversation_id"' in start and '"history"' in start

    def default_paths(self) -> list[Path]:
        found = [_data_directory() / program / "data.sqlite3" for program in ("amazon-q", "kiro-cli")]
        return [path for path in found if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        if has_tables(path):
            with open_tables(path, in_place=True) as tables:
                yield from _rows(tables, path.name)
        else:
            with open_files(path) as files, files.open(path.name) as stream:
                yield conversation(read_json(stream, path.name), {}, path.name)


def _data_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _rows(tables: Tables, place: str) -> Iterator[Conversation | Skipped]:
    """The newer table first: the older one may hold copies of the same conversations."""
    seen: set[str] = set()
    for table in ("conversations_v2", "conversations"):
        for row in tables.rows(table, COLUMNS, order="updated_at,rowid"):
            here = f"{place}: {table} {row['key']}"
            try:
                told = conversation(parse_json(row["value"] or ""), row, here)
            except (ValueError, ImporterError) as error:
                yield Skipped(here, str(error), row["value"])
                continue
            if told.id not in seen:
                seen.add(told.id)
                yield told


def conversation(state: Json, row: dict[str, Any], place: str) -> Conversation:
    """A state as a conversation. Raises `ImporterError` for what is not one."""
    if not isinstance(state, dict) or not isinstance(state.get("conversation_id"), str):
        raise ImporterError(f"{place} is not a conversation of Amazon Q.")
    lines = Lines(state, place)
    return Conversation(
        AmazonQ.name, state["conversation_id"], lines.said(), f"amazon-q:{state['conversation_id']}", lines.head,
        lines.heads(f"amazon-q:{state['conversation_id']}"),
        directory=text_or_none(row.get("key")) or lines.directory, model=lines.model,
        agent=text_or_none(at(state, "context_manager", "current_profile")),
        created_at=from_milliseconds(row.get("created_at")), updated_at=from_milliseconds(row.get("updated_at")),
        extra={name: state[name] for name in KEPT if state.get(name)} or None,
    )  # fmt: skip


class Lines:
    """The lines of one state: the main one, the tangent, and what checkpoints remember. They share beginnings."""

    def __init__(self, state: dict[str, Json], place: str) -> None:
        self.state = state
        self.place = place
        self.model = text_or_none(at(state, "model_info", "model_id")) or text_or_none(state.get("model"))
        main = at(state, "tangent_state", "main_history")
        self.main = self._line(state.get("history") if main is None else main, "history")
        self.tangent = [] if main is None else self._line(state.get("history"), "tangent")
        self.checkpoints = [
            (mark, self._line(mark.get("history_snapshot"), f"checkpoint {mark.get('tag')}"))
            for mark in at(state, "checkpoint_manager", "checkpoints") or ()
            if isinstance(mark, dict)
        ]

    def _line(self, history: Json, what: str) -> list[Entry]:
        return list(entries(history, f"{self.place} {what}", self.model, self.state["conversation_id"]))

    @property
    def head(self) -> str | None:
        """Where the main line ends; None, with nothing said, before its first answer."""
        return self.main[-1].last if self.main else None

    @property
    def directory(self) -> str | None:
        found = (entry.directory for entry in reversed(self.main))
        return next((directory for directory in found if directory), None)

    def heads(self, key: str) -> tuple[Head, ...]:
        """The tangent, and the checkpoints that are not on the way to where the others stand."""
        on_the_way = {entry.last for entry in (*self.main, *self.tangent)}
        found = [Head(f"{key}:tangent", self.tangent[-1].last)] if self.tangent else []
        for mark, line in self.checkpoints:
            if line and line[-1].last not in on_the_way:
                title = text_or_none(mark.get("description"))
                found.append(Head(f"{key}:checkpoint:{mark.get('tag')}", line[-1].last, title))
                on_the_way.add(line[-1].last)
        return tuple(found)

    def said(self) -> Iterator[Item]:
        told: set[str] = set()
        parent = None
        if summary := _summary(self.state):
            yield summary
            parent = summary.id
        for line in (self.main, self.tangent, *(line for _, line in self.checkpoints)):
            above = parent
            for entry in line:
                if entry.last not in told:
                    told.add(entry.last)
                    yield from entry.items(above)
                above = entry.last
        yield from self._waiting()

    def _waiting(self) -> Iterator[Item]:
        """What the user has said and nobody has answered yet."""
        waiting = text_or_none(at(self.state, "next_message", "content", "Prompt", "prompt"))
        last = (self.tangent or self.main)[-1].last if self.tangent or self.main else None
        if waiting is not None:
            yield ImportedMessage(f"{self.state['conversation_id']}:after:{last}", user(waiting), last)


def _summary(state: dict[str, Json]) -> ImportedMessage | None:
    """What stands for the entries that compaction has taken away."""
    found = state.get("latest_summary")
    text = found[0] if isinstance(found, list) and found else found
    if not isinstance(text, str) or not text:
        return None
    (name,) = chained([text], state["conversation_id"])
    return ImportedMessage(f"summary:{name}", user(text), kind="summary")


IMPORTER = AmazonQ()
