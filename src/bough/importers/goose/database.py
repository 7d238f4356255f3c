"""goose's `sessions.db` of any version; missing columns are read as None."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.formats.payload import at, count, text_or_none
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.order import eldest, latest_last
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.timestamps import from_iso
from bough.importers.goose.session_file import NAME
from bough.importers.goose.tree import RequestUsage, SessionReader, StoredMessage, usage_by_reply
from bough.model import Usage
from bough.model.imported import Conversation, Item, Skipped

Row = dict[str, Any]
KEPT = (
    "session_type", "schedule_id", "recipe_json", "user_recipe_values_json", "goose_mode", "archived_at", "project_id",
    "accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost",
)  # fmt: skip
"""Columns that are kept with the session. `extension_data` is not: it may hold credentials."""
SESSIONS = (
    "id", "name", "description", "working_dir", "created_at", "updated_at", "provider_name", "model_config_json",
    "parent_session_id", *KEPT,
)  # fmt: skip
MESSAGES = ("id", "message_id", "role", "content_json", "created_timestamp", "metadata_json")
LEDGER = ("created_timestamp", "model", "input_tokens", "output_tokens", "cache_read_tokens", "cost")


def is_goose(path: Path) -> bool:
    return has_tables(
        path, sessions=("id", "working_dir"), messages=("session_id", "content_json", "created_timestamp")
    )


class GooseDatabase:
    """Reads the sessions of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def conversations(self) -> Iterator[Conversation]:
        with open_tables(self._path) as tables:
            rows = list(tables.rows("sessions", SESSIONS, order="created_at,id"))
            families = eldest({row["id"]: row["parent_session_id"] for row in rows})
            for row in latest_last(rows, _last_used, lambda row: families[row["id"]]):
                yield self._conversation(tables, row)

    def _conversation(self, tables: Tables, row: Row) -> Conversation:
        rest = {key: row[key] for key in KEPT if row[key] is not None}
        model = _model(row)
        return Conversation(
            NAME,
            str(row["id"]),
            _items(tables, str(row["id"]), model, text_or_none(row["provider_name"])),
            title=row["name"] or row["description"] or None,
            directory=row["working_dir"],
            model=model,
            agent="subagent" if row["session_type"] == "sub_agent" else None,
            parent=text_or_none(row["parent_session_id"]),
            created_at=from_iso(row["created_at"]),
            updated_at=from_iso(row["updated_at"]),
            extra={NAME: rest} if rest else None,
        )


def _items(tables: Tables, session: str, model: str | None, provider: str | None) -> Iterator[Item]:
    order = "created_timestamp,id"
    replies = tables.rows("messages", ("created_timestamp",), order=order, session_id=session, role="assistant")
    times = [row["created_timestamp"] for row in replies if isinstance(row["created_timestamp"], int)]
    reader = SessionReader(session, model, provider, usage_by_reply(times, _ledger(tables, session)))
    for row in tables.rows("messages", MESSAGES, order=order, session_id=session):
        content = parse_json_or_none(row["content_json"])
        if not isinstance(content, list):
            yield Skipped(f"messages:{row['id']}", "The content is not a JSON list.", row["content_json"])
            content = []
        stored = StoredMessage(
            row["message_id"], row["role"], content, row["created_timestamp"], parse_json_or_none(row["metadata_json"])
        )
        yield from reader.items([stored])


def _ledger(tables: Tables, session: str) -> Iterator[RequestUsage]:
    for row in tables.rows("usage_ledger", LEDGER, order="created_timestamp,id", session_id=session):
        if isinstance(row["created_timestamp"], int):
            cost = row["cost"] if isinstance(row["cost"], float) else None
            given, replied, cached = (count(row, f"{kind}_tokens") for kind in ("input", "output", "cache_read"))
            usage = Usage(given, replied, cached, cost=cost)
            yield RequestUsage(row["created_timestamp"], text_or_none(row["model"]), usage)


def _last_used(row: Row) -> int:
    return from_iso(row["updated_at"]) or 0


def _model(row: Row) -> str | None:
    return text_or_none(at(parse_json_or_none(row["model_config_json"]), "model_name"))
