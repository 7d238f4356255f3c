"""egirl's `conversations.db`: sessions by channel, numbered messages, content as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import as_dict, as_list, optional_list, text_or_none, written
from bough.importers.common.json_reader import parse_json
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.synthetic_ids import dated
from bough.importers.common.timestamps import from_milliseconds
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

SESSION_COLUMNS = ("id", "channel", "created_at", "last_active_at", "summary")
MESSAGE_COLUMNS = ("id", "session_id", "role", "content", "tool_calls", "tool_call_id", "created_at")


class Egirl:
    name = "egirl"
    title = "egirl"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, sessions=("id", "channel", "last_active_at"), messages=("tool_call_id", "session_id"))

    def default_paths(self) -> list[Path]:
        return []  # it is in a workspace of the user's choice

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            for session in tables.rows("sessions", SESSION_COLUMNS, order="last_active_at,rowid"):
                yield conversation(tables, session, path.name)


def conversation(tables: Tables, session: dict[str, Any], place: str) -> Conversation:
    # Every workspace has a `cli:default` and numbers its messages from one: the time makes them unique.
    id = dated(session["id"], session["created_at"])
    key = str(session["id"]) if ":" in str(session["id"]) else f"egirl:{session['id']}"
    return Conversation(
        Egirl.name, id, _items(tables, session["id"], id, place), key,
        created_at=from_milliseconds(session["created_at"]), updated_at=from_milliseconds(session["last_active_at"]),
        extra={"summary": session["summary"]} if session["summary"] else None,
    )  # fmt: skip


def _items(tables: Tables, session: str, id: str, place: str) -> Iterator[Item]:
    parent, decode = None, get("openai.chat").decode
    for row in tables.rows("messages", MESSAGE_COLUMNS, order="id", session_id=session):
        try:
            messages = decode([chat_message(row)]).messages
        except (FormatError, ValueError) as error:
            yield Skipped(f"{place}: messages {row['id']}", str(error), row)
            continue
        for message in messages:
            message_id = f"{id}:{row['id']}"
            yield ImportedMessage(message_id, message, parent, from_milliseconds(row["created_at"]))
            parent = message_id


def chat_message(row: dict[str, Any]) -> dict[str, Json]:
    """A row as an OpenAI chat message. Raises `ValueError` and `FormatError`."""
    message: dict[str, Json] = {"role": row["role"], "content": parse_json(row["content"])}
    if row["tool_calls"]:
        calls = optional_list(parse_json(row["tool_calls"]), "tool_calls")
        message["tool_calls"] = [_call(as_dict(call, "a tool call")) for call in calls]
    if row["role"] == "tool":
        message["tool_call_id"] = text_or_none(row["tool_call_id"]) or ""
    if not isinstance(message["content"], (str, type(None))):
        as_list(message["content"], "content")
    return message


def _call(call: dict[str, Json]) -> dict[str, Json]:
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else written(arguments or {})
    function = {"name": text_or_none(call.get("name")) or "", "arguments": text}
    return {"id": text_or_none(call.get("id")) or "", "type": "function", "function": function}


IMPORTER: Importer = Egirl()
