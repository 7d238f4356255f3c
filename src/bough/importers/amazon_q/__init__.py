"""Amazon Q CLI's `data.sqlite3` (and that of its successor Kiro CLI), and the JSON files of `/save`.

The database also holds credentials: only the tables `conversations` and `conversations_v2` are read, and the file is
never copied. A row is the state of one conversation: its history and, as further branches of the same tree, the main
branch during a tangent and the snapshots of checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.errors import ImporterError
from bough.formats.payload import at, text_or_none
from bough.importers.amazon_q.exchanges import Exchange, exchanges
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import parse_json, read_json, text_start
from bough.importers.common.paths import data_directory
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_milliseconds
from bough.importers.types import Importer
from bough.model import Json, user
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

COLUMNS = ("key", "conversation_id", "value", "created_at", "updated_at")
KEPT = ("transcript", "context_manager", "model_info", "latest_summary")
"""Fields of a state that are kept with the session."""


class AmazonQ:
    name = "amazon-q"
    title = "Amazon Q CLI"

    def recognises(self, path: Path) -> bool:
        if has_tables(path, conversations=("key", "value")) or has_tables(path, conversations_v2=("key", "value")):
            return True
        start = text_start(path)
        return start.startswith("{") and '"conversation_id"' in start and '"history"' in start

    def default_paths(self) -> list[Path]:
        found = [data_directory() / program / "data.sqlite3" for program in ("amazon-q", "kiro-cli")]
        return [path for path in found if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        if has_tables(path):
            with open_tables(path, in_place=True) as tables:
                yield from _rows(tables, path.name)
        else:
            with open_files(path) as files, files.open(path.name) as stream:
                yield conversation(read_json(stream, path.name), {}, path.name)


def _rows(tables: Tables, place: str) -> Iterator[Conversation | Skipped]:
    """The conversations of both tables, the newer one first: the older may hold copies."""
    seen: set[str] = set()
    for table in ("conversations_v2", "conversations"):
        for row in tables.rows(table, COLUMNS, order="updated_at,rowid"):
            here = f"{place}: {table} {row['key']}"
            try:
                found = conversation(parse_json(row["value"] or ""), row, here)
            except (ValueError, ImporterError) as error:
                yield Skipped(here, str(error), row["value"])
                continue
            if found.id not in seen:
                seen.add(found.id)
                yield found


def conversation(state: Json, row: dict[str, Any], place: str) -> Conversation:
    """The conversation of a state. Raises `ImporterError` if it is not one."""
    if not isinstance(state, dict) or not isinstance(state.get("conversation_id"), str):
        raise ImporterError(f"{place} is not a conversation of Amazon Q.")
    branches = Branches(state, place)
    return Conversation(
        AmazonQ.name, state["conversation_id"], branches.items(), f"amazon-q:{state['conversation_id']}", branches.head,
        branches.heads(f"amazon-q:{state['conversation_id']}"),
        directory=text_or_none(row.get("key")) or branches.directory, model=branches.model,
        agent=text_or_none(at(state, "context_manager", "current_profile")),
        created_at=from_milliseconds(row.get("created_at")), updated_at=from_milliseconds(row.get("updated_at")),
        extra={name: state[name] for name in KEPT if state.get(name)} or None,
    )  # fmt: skip


class Branches:
    """The branches of one state: main, tangent and checkpoints. They share their beginnings."""

    def __init__(self, state: dict[str, Json], place: str) -> None:
        self.state = state
        self.place = place
        self.model = text_or_none(at(state, "model_info", "model_id")) or text_or_none(state.get("model"))
        main = at(state, "tangent_state", "main_history")
        self.main = self._exchanges(state.get("history") if main is None else main, "history")
        self.tangent = [] if main is None else self._exchanges(state.get("history"), "tangent")
        self.checkpoints = [
            (checkpoint, self._exchanges(checkpoint.get("history_snapshot"), f"checkpoint {checkpoint.get('tag')}"))
            for checkpoint in at(state, "checkpoint_manager", "checkpoints") or ()
            if isinstance(checkpoint, dict)
        ]

    def _exchanges(self, history: Json, what: str) -> list[Exchange]:
        return list(exchanges(history, f"{self.place} {what}", self.model, self.state["conversation_id"]))

    @property
    def head(self) -> str | None:
        """The end of the main branch; None before the first answer."""
        return self.main[-1].last if self.main else None

    @property
    def directory(self) -> str | None:
        found = (exchange.directory for exchange in reversed(self.main))
        return next((directory for directory in found if directory), None)

    def heads(self, key: str) -> tuple[Head, ...]:
        """The tangent, and the checkpoints that are not on the path to another head."""
        covered = {exchange.last for exchange in (*self.main, *self.tangent)}
        found = [Head(f"{key}:tangent", self.tangent[-1].last)] if self.tangent else []
        for checkpoint, branch in self.checkpoints:
            if branch and branch[-1].last not in covered:
                title = text_or_none(checkpoint.get("description"))
                found.append(Head(f"{key}:checkpoint:{checkpoint.get('tag')}", branch[-1].last, title))
                covered.add(branch[-1].last)
        return tuple(found)

    def items(self) -> Iterator[Item]:
        seen: set[str] = set()
        root = None
        if summary := _summary(self.state):
            yield summary
            root = summary.id
        for branch in (self.main, self.tangent, *(branch for _, branch in self.checkpoints)):
            parent = root
            for exchange in branch:
                if exchange.last not in seen:
                    seen.add(exchange.last)
                    yield from exchange.items(parent)
                parent = exchange.last
        yield from self._unanswered()

    def _unanswered(self) -> Iterator[Item]:
        """The prompt that is not answered yet."""
        prompt = text_or_none(at(self.state, "next_message", "content", "Prompt", "prompt"))
        last = (self.tangent or self.main)[-1].last if self.tangent or self.main else None
        if prompt is not None:
            yield ImportedMessage(f"{self.state['conversation_id']}:after:{last}", user(prompt), last)


def _summary(state: dict[str, Json]) -> ImportedMessage | None:
    """The summary of the exchanges that a compaction removed."""
    found = state.get("latest_summary")
    text = found[0] if isinstance(found, list) and found else found
    if not isinstance(text, str) or not text:
        return None
    (name,) = chained([text], state["conversation_id"])
    return ImportedMessage(f"summary:{name}", user(text), kind="summary")


IMPORTER: Importer = AmazonQ()
