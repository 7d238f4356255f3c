"""Pingu's `pingu.db`: turns with the prompt and the last reply, in either of two formats.

Pingu does not store the tool calls and results in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import as_dict, as_list, as_text, count, text_or_none
from bough.formats.types import Decoded, Provenance
from bough.importers.common.json_reader import parse_json, parse_json_or_none
from bough.importers.common.order import latest_last
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.synthetic_ids import dated
from bough.importers.common.timestamps import from_iso
from bough.importers.types import Importer
from bough.model import Block, Json, Message, Other, Text, ToolCall, Usage, user
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped
from bough.model.keys import parse_key

SESSION_COLUMNS = ("id", "title", "model", "summary", "summary_up_to", "created_at", "updated_at")
TURN_COLUMNS = ("id", "user_message", "response_json", "model", "created_at")
MESSAGE_COLUMNS = ("id", "role", "content", "tool_calls", "tool_call_id", "name", "model", "created_at")


class Pingu:
    name = "pingu"
    title = "Pingu"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, turns=("session_id", "user_message", "response_json"), sessions=("id", "channel_id"))

    def default_paths(self) -> list[Path]:
        return [path for path in [Path.home() / ".local" / "share" / "pingu" / "pingu.db"] if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            rows = {row["id"]: row for row in tables.rows("sessions", SESSION_COLUMNS)}
            for key in latest_last(
                sorted(rows, key=lambda key: key.count(":delegate:")),  # the delegating session comes first
                lambda key: from_iso(rows[key]["updated_at"]) or 0,
                lambda key: key.partition(":delegate:")[0],
            ):
                yield conversation(tables, rows, key, path.name)


def session_id(session: dict[str, Any]) -> str:
    """A unique id of a session: every file has the same keys, so the time is part of it."""
    return dated(session["id"], session["created_at"])


def conversation(tables: Tables, sessions: dict[str, dict[str, Any]], key: str, place: str) -> Conversation:
    session, parsed_key = sessions[key], parse_key(key)
    owner = sessions.get(parsed_key.parent or "")
    summary = {name: session[name] for name in ("summary", "summary_up_to") if session[name]}
    return Conversation(
        Pingu.name, session_id(session), _items(tables, session, place), key,
        title=text_or_none(session["title"]), model=text_or_none(session["model"]), agent=parsed_key.agent,
        parent=session_id(owner) if owner else None,
        created_at=from_iso(session["created_at"]), updated_at=from_iso(session["updated_at"]), extra=summary or None,
    )  # fmt: skip


def _items(tables: Tables, session: dict[str, Any], place: str) -> Iterator[Item]:
    parent: str | None = None
    for item in (*_messages(tables, session, place), *_turns(tables, session, place)):
        if isinstance(item, ImportedMessage):
            item = ImportedMessage(item.id, item.message, parent, item.created_at, turn=item.turn, model=item.model,
                        provider=item.provider, usage=item.usage)  # fmt: skip
            parent = item.id
        yield item


def _turns(tables: Tables, session: dict[str, Any], place: str) -> Iterator[Item]:
    # By number: times are to the second only.
    for row in tables.rows("turns", TURN_COLUMNS, order="id", session_id=session["id"]):
        name, time = f"{session_id(session)}:{row['id']}", from_iso(row["created_at"])
        yield ImportedMessage(f"{name}:user", user(row["user_message"] or ""), created_at=time, turn=name)
        try:
            decoded = decode(parse_json(row["response_json"] or ""))
        except (ValueError, FormatError) as error:
            yield Skipped(f"{place}: turns {row['id']}", f"The reply: {error}", row["response_json"])
            continue
        provenance = decoded.provenance
        for number, message in enumerate(decoded.messages):
            yield ImportedMessage(
                f"{name}:{number}", message, created_at=time, turn=name, model=provenance.model or row["model"],
                provider=provenance.provider, usage=None if number else provenance.usage,
            )  # fmt: skip


def decode(reply: Json) -> Decoded:
    """A reply in either format: as OpenAI sent it, or as newer versions of Pingu store it."""
    reply = as_dict(reply, "The reply")
    if "usage" in reply or "object" in reply or "id" in reply:
        return get("openai.responses").decode(reply)
    blocks = tuple(_block(as_dict(item, "output")) for item in as_list(reply.get("output"), "output"))
    usage = Usage(count(reply, "input_tokens"), count(reply, "output_tokens"))
    messages = (Message("assistant", blocks),) if blocks else ()
    return Decoded(messages, Provenance(model=text_or_none(reply.get("model")), usage=usage))


def _block(item: dict[str, Json]) -> Block:
    kind = as_text(item.get("type"), "output.type")
    if kind == "function_call":
        call_id, name, arguments = (text_or_none(item.get(key)) or "" for key in ("call_id", "name", "arguments"))
        return ToolCall(call_id, name, arguments, raw={"pingu": item})
    if isinstance(item.get("raw"), dict):
        (message,) = get("openai.responses").decode([item["raw"]]).messages
        return message.blocks[0] if len(message.blocks) == 1 else Other(kind, {"openai.responses": item["raw"]})
    if isinstance(item.get("content"), str):
        return Text(item["content"], raw={"pingu": item})
    return Other(kind, {"pingu": item})


def _messages(tables: Tables, session: dict[str, Any], place: str) -> Iterator[Item]:
    """The messages of a table that no known version fills."""
    chat = get("openai.chat").decode
    for row in tables.rows("messages", MESSAGE_COLUMNS, order="rowid", session_id=session["id"]):
        wire = {name: row[name] for name in ("role", "content", "tool_call_id", "name") if row[name] is not None}
        if calls := parse_json_or_none(row["tool_calls"]):
            wire["tool_calls"] = calls
        try:
            (message,) = chat([{"content": None, **wire}]).messages
        except (ValueError, FormatError) as error:
            yield Skipped(f"{place}: messages {row['id']}", str(error), row)
            continue
        yield ImportedMessage(f"{session_id(session)}:m:{row['id']}", message, created_at=from_iso(row["created_at"]),
                   model=row["model"])  # fmt: skip


IMPORTER: Importer = Pingu()
