"""Pingu's `pingu.db`: turns with the user's words and the model's last reply, in either of two dialects.

What happened between the two, the calls of tools and their results, Pingu never kept.
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
from bough.model import Block, Json, Message, Other, Text, ToolCall, Usage, user
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped
from bough.model.keys import parse_key

SESSION = ("id", "title", "model", "summary", "summary_up_to", "created_at", "updated_at")
TURN = ("id", "user_message", "response_json", "model", "created_at")
MESSAGE = ("id", "role", "content", "tool_calls", "tool_call_id", "name", "model", "created_at")


class Pingu:
    name = "pingu"
    title = "Pingu"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, turns=("session_id", "user_message", "response_json"), sessions=("id", "channel_id"))

    def default_paths(self) -> list[Path]:
        return [path for path in [Path.home() / ".local" / "share" / "pingu" / "pingu.db"] if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            rows = {row["id"]: row for row in tables.rows("sessions", SESSION)}
            for key in latest_last(
                sorted(rows, key=lambda key: key.count(":delegate:")),  # who delegates comes first
                lambda key: from_iso(rows[key]["updated_at"]) or 0,
                lambda key: key.partition(":delegate:")[0],
            ):
                yield conversation(tables, rows, key, path.name)


def name_of(session: dict[str, Any]) -> str:
    """The keys are the same in everyone's file; with the moment they are not."""
    return dated(session["id"], session["created_at"])


def conversation(tables: Tables, sessions: dict[str, dict[str, Any]], key: str, place: str) -> Conversation:
    session, parsed_key = sessions[key], parse_key(key)
    owner = sessions.get(parsed_key.parent or "")
    summary = {name: session[name] for name in ("summary", "summary_up_to") if session[name]}
    return Conversation(
        Pingu.name, name_of(session), _said(tables, session, place), key,
        title=text_or_none(session["title"]), model=text_or_none(session["model"]), agent=parsed_key.agent,
        parent=name_of(owner) if owner else None,
        created_at=from_iso(session["created_at"]), updated_at=from_iso(session["updated_at"]), extra=summary or None,
    )  # fmt: skip


def _said(tables: Tables, session: dict[str, Any], place: str) -> Iterator[Item]:
    parent: str | None = None
    for item in (*_messages(tables, session, place), *_turns(tables, session, place)):
        if isinstance(item, ImportedMessage):
            item = ImportedMessage(item.id, item.message, parent, item.created_at, turn=item.turn, model=item.model,
                        provider=item.provider, usage=item.usage)  # fmt: skip
            parent = item.id
        yield item


def _turns(tables: Tables, session: dict[str, Any], place: str) -> Iterator[Item]:
    # By number: the times are to the second, and say nothing of the order within one.
    for row in tables.rows("turns", TURN, order="id", session_id=session["id"]):
        name, time = f"{name_of(session)}:{row['id']}", from_iso(row["created_at"])
        yield ImportedMessage(f"{name}:user", user(row["user_message"] or ""), created_at=time, turn=name)
        try:
            read = decode(parse_json(row["response_json"] or ""))
        except (ValueError, FormatError) as error:
            yield Skipped(f"{place}: turns {row['id']}", f"The reply: {error}", row["response_json"])
            continue
        about = read.provenance
        for number, message in enumerate(read.messages):
            yield ImportedMessage(
                f"{name}:{number}", message, created_at=time, turn=name, model=about.model or row["model"],
                provider=about.provider, usage=None if number else about.usage,
            )  # fmt: skip


def decode(reply: Json) -> Decoded:
    """A reply in either dialect: as OpenAI sent it, or as Pingu's newer versions wrote it down."""
    reply = as_dict(reply, "The reply")
    if "usage" in reply or "object" in reply or "id" in reply:
        return get("openai.responses").decode(reply)
    blocks = tuple(_block(as_dict(item, "output")) for item in as_list(reply.get("output"), "output"))
    usage = Usage(count(reply, "input_tokens"), count(reply, "output_tokens"))
    said = (Message("assistant", blocks),) if blocks else ()
    return Decoded(said, Provenance(model=text_or_none(reply.get("model")), usage=usage))


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
    """The table of messages, which no version is known to have filled."""
    chat = get("openai.chat").decode
    for row in tables.rows("messages", MESSAGE, order="rowid", session_id=session["id"]):
        wire = {name: row[name] for name in ("role", "content", "tool_call_id", "name") if row[name] is not None}
        if calls := parse_json_or_none(row["tool_calls"]):
            wire["tool_calls"] = calls
        try:
            (message,) = chat([{"content": None, **wire}]).messages
        except (ValueError, FormatError) as error:
            yield Skipped(f"{place}: messages {row['id']}", str(error), row)
            continue
        yield ImportedMessage(f"{name_of(session)}:m:{row['id']}", message, created_at=from_iso(row["created_at"]),
                   model=row["model"])  # fmt: skip


IMPORTER = Pingu()
