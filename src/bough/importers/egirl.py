"""egirl's `conversations.db`: sessions by channel, messages in the order of their numbers, content always as JSON."""

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
from bough.model import Json
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

SESSION = ("id", "channel", "created_at", "last_active_at", "summary")
MESSAGE = ("id", "session_id", "role", "content", "tool_calls", "tool_call_id", "created_at")


class Egirl:
    name = "egirl"
    title = "egirl"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, sessions=("id", "channel", "last_active_at"), messages=("tool_call_id", "session_id"))

    def default_paths(self) -> list[Path]:
        return []  # it lies in a workspace that only its owner knows

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            for session in tables.rows("sessions", SESSION, order="last_active_at,rowid"):
                yield conversation(tables, session, path.name)


def conversation(tables: Tables, session: dict[str, Any], place: str) -> Conversation:
    # Every workspace has its own `cli:default`, and counts its messages from one.
    id = dated(session["id"], session["created_at"])
    key = str(session["id"]) if ":" in str(session["id"]) else f"egirl:{session['id']}"
    return Conversation(
        Egirl.name, id, _said(tables, session["id"], id, place), key,
        created_at=from_milliseconds(session["created_at"]), updated_at=from_milliseconds(session["last_active_at"]),
        extra={"summary": session["summary"]} if session["summary"] else None,
    )  # fmt: skip


def _said(tables: Tables, session: str, id: str, place: str) -> Iterator[Item]:
    parent, decode = None, get("openai.chat").decode
    for row in tables.rows("messages", MESSAGE, order="id", session_id=session):
        try:
            messages = decode([wire(row)]).messages
        except (FormatError, ValueError) as error:
            yield Skipped(f"{place}: messages {row['id']}", str(error), row)
            continue
        for message in messages:
            name = f"{id}:{row['id']}"
            yield ImportedMessage(name, message, parent, from_milliseconds(row["created_at"]))
            parent = name


def wire(row: dict[str, Any]) -> dict[str, Json]:
    """A row in the words of OpenAI's chats, whose parts it has. Raises `ValueError` and `FormatError`."""
    said: dict[str, Json] = {"role": row["role"], "content": parse_json(row["content"])}
    if row["tool_calls"]:
        calls = optional_list(parse_json(row["tool_calls"]), "tool_calls")
        said["tool_calls"] = [_call(as_dict(call, "a tool call")) for call in calls]
    if row["role"] == "tool":
        said["tool_call_id"] = text_or_none(row["tool_call_id"]) or ""
    if not isinstance(said["content"], (str, type(None))):
        as_list(said["content"], "content")
    return said


def _call(call: dict[str, Json]) -> dict[str, Json]:
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else written(arguments or {})
    function = {"name": text_or_none(call.get("name")) or "", "arguments": text}
    return {"id": text_or_none(call.get("id")) or "", "type": "function", "function": function}


IMPORTER = Egirl()
