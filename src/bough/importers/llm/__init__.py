"""llm: `logs.db`, with the tables of both schema versions in one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.importers.common.order import latest_last
from bough.importers.common.paths import config_directory
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.importers.llm.content import Content, Row
from bough.importers.llm.responses import ResponseTables
from bough.importers.llm.threads import ThreadTables
from bough.importers.types import Importer
from bough.model.imported import Conversation, Item, Skipped

NAME = "llm"
FOLDER = "io.datasette.llm"


class LLM:
    """Reads the log of the `llm` command."""

    name = NAME
    title = "llm"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, responses=("prompt", "prompt_json", "conversation_id")) or has_tables(
            path, threads=("tip_message_hash",), turns=("tip_message_hash",), messages=("parent_hash",)
        )

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            yield from LogDatabase(tables).conversations()

    def default_paths(self) -> list[Path]:
        own = os.environ.get("LLM_USER_PATH")
        home = Path(own) if own else config_directory() / FOLDER
        return [path for path in [home / "logs.db"] if path.is_file()]


class LogDatabase:
    """A conversation is in the older tables, in the newer ones, or begins in the older and continues in the newer."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        content = Content(tables)
        self._responses = ResponseTables(tables, content)
        self._threads = ThreadTables(tables, content)
        self._single: dict[str, Any] = {}
        """The ids of responses without a conversation."""

    def conversations(self) -> Iterator[Conversation]:
        threads = self._named("threads", ("id", "name", "tip_message_hash", "datetime_utc"))
        conversations = self._named("conversations", ("id", "name", "model"))
        last = self._last_ids()
        seen = latest_last({**last, **threads, **conversations}, lambda name: last.get(name, ""), self._threads.family)
        for name in seen:
            if name in threads:
                yield self._thread(threads[name])
            elif name in self._single:
                yield from map(self._single_response, self._responses.one(self._single[name]))
            else:
                yield self._conversation(name, conversations.get(name, {"name": None, "model": None}))

    def _named(self, table: str, columns: tuple[str, ...]) -> dict[str, Row]:
        return {str(row["id"]): row for row in self._tables.rows(table, columns, order="id")}

    def _last_ids(self) -> dict[str, str]:
        """The last response id of each conversation; ids ascend. A response without a conversation is one by itself."""
        last: dict[str, str] = {}
        for table, owner in (("responses", "conversation_id"), ("turns", "thread_id")):
            for row in self._tables.rows(table, ("id", owner), order="id"):
                name = str(row["id"] if row[owner] is None else row[owner])
                last[name] = max(last.get(name, ""), str(row["id"]))
                if row[owner] is None:
                    self._single[name] = row["id"]
        return last

    def _single_response(self, row: Row) -> Conversation:
        items = self._responses.items([row])
        return Conversation(NAME, str(row["id"]), items, title=shortened(row["prompt"] or ""), model=row["model"])

    def _thread(self, row: Row) -> Conversation:
        thread = str(row["id"])
        tip = row["tip_message_hash"]
        return Conversation(
            NAME,
            thread,
            self._both(thread, tip),
            head=f"{self._threads.family(thread)}:{tip}" if tip else None,
            title=row["name"],
            model=next((turn["model"] for turn in self._threads.turns(thread)), None),
            created_at=from_iso(row["datetime_utc"]),
        )

    def _conversation(self, name: str, row: Row) -> Conversation:
        items = self._responses.items(self._responses.of(name))
        return Conversation(NAME, name, items, title=row["name"], model=row["model"])

    def _both(self, thread: str, tip: str | None) -> Iterator[Item]:
        """A thread, and what only the older tables have of it."""
        turns = {turn["id"] for turn in self._threads.turns(thread)}
        older = [row for row in self._responses.of(thread) if row["id"] not in turns]
        if any(map(self._responses.is_more_than_words, older)):
            # The newer tables repeat only its text, so the whole of it comes as a separate branch.
            yield from self._responses.items(older)
            older = []
        unmatched = {row["response"]: row for row in older}
        yield from self._threads.items(thread, tip, unmatched)
        yield from self._responses.items(row for row in older if row["response"] in unmatched)


IMPORTER: Importer = LLM()
