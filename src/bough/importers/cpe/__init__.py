"""CPE's `.cpeconvo`, every version, distinguished by its columns.

Messages form trees. A compacted conversation continues in a new tree whose root refers to the old one: that root
becomes a summary under the message it refers to. Newer files have sessions; a tree without one is a conversation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from bough.formats.media import from_base64, kind_of
from bough.formats.payload import text_or_none, written
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.paths import config_directory
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.synthetic_ids import dated, parents_first
from bough.importers.common.timestamps import from_iso
from bough.importers.cpe import first_generation
from bough.importers.types import Importer
from bough.model import ROLES, Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

TREE_COLUMNS = ("id", "parent_id", "compaction_parent_id", "role", "title", "is_subagent", "created_at")
MESSAGE_COLUMNS = (
    "tool_result_error", "message_extra_fields", "model_id", "model_type", "input_tokens", "output_tokens",
    "cache_read_tokens",
)  # fmt: skip
BLOCK_COLUMNS = ("id", "block_type", "modality_type", "mime_type", "content", "extra_fields")
SESSION_COLUMNS = ("id", "last_message_id", "cwd", "title", "model_ref", "thinking_level", "cost_usd", "created_at")
MEDIA = {1: "image/png", 2: "audio/wav", 3: "video/mp4"}
"""The MIME type of each modality, for blocks that have none."""


class CPE:
    name = "cpe"
    title = "CPE"

    def recognises(self, path: Path) -> bool:
        return (
            has_tables(path, messages=("id", "parent_id", "role"), blocks=("message_id", "block_type", "modality_type"))
            or has_tables(path, conversations=("user_message", "executor_data"))
        )  # fmt: skip

    def default_paths(self) -> list[Path]:
        found = [Path(".cpeconvo"), config_directory() / "cpe" / ".cpeconvo"]
        named = os.environ.get("CPE_DB_PATH")
        return [path for path in [*found, *([Path(named).expanduser()] if named else [])] if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            if tables.columns("messages"):
                yield from MessageTrees(tables, path.name).read()
            yield from first_generation.read(tables, self.name)


class MessageTrees:
    """The trees of one file. Their structure is in memory, their content is not."""

    def __init__(self, tables: Tables, place: str) -> None:
        self.tables = tables
        self.place = place
        rows = list(tables.rows("messages", TREE_COLUMNS))
        self.rows = {row["id"]: row for row in rows}
        parents = {row["id"]: row["parent_id"] or row["compaction_parent_id"] for row in rows}
        self.parents = dict(parents_first(parents))
        self.roots = self._roots()
        self.sessions = list(tables.rows("acp_sessions", SESSION_COLUMNS))

    def _roots(self) -> dict[str, str]:
        roots: dict[str, str] = {}
        for id, parent in self.parents.items():
            roots[id] = roots[parent] if parent is not None else id
        return roots

    def read(self) -> Iterator[Conversation | Skipped]:
        sessions: dict[str, list[dict[str, Any]]] = {}
        for session in self.sessions:
            if session["last_message_id"] in self.roots:
                sessions.setdefault(self.roots[session["last_message_id"]], []).append(session)
        members: dict[str, list[str]] = {}
        for id, root in self.roots.items():
            members.setdefault(root, []).append(id)
        position = {id: number for number, id in enumerate(self.rows)}
        for root, ids in sorted(members.items(), key=lambda tree: max(position[id] for id in tree[1])):
            yield self._with_sessions(root, ids, sessions[root]) if root in sessions else self._tree(root, ids)

    def _with_sessions(self, root: str, ids: list[str], sessions: list[dict[str, Any]]) -> Conversation:
        """A tree with sessions: the first is the conversation, the others are its forks."""
        first, *others = sessions
        kept = {name: first[name] for name in ("model_ref", "thinking_level", "cost_usd") if first[name]}
        return Conversation(
            CPE.name, self._id(root), self._items(ids), f"cpe:{first['id']}", self._id(first["last_message_id"]),
            tuple(
                Head(f"cpe:{one['id']}", self._id(one["last_message_id"]), text_or_none(one["title"]))
                for one in others
            ),
            text_or_none(first["title"]), text_or_none(first["cwd"]), self._model(ids),
            created_at=from_iso(first["created_at"]), extra=kept or None,
        )  # fmt: skip

    def _tree(self, root: str, ids: list[str]) -> Conversation:
        """A tree without a session; its head is the newest reply, where CPE would have continued."""
        label = self._label(root)
        replies = [id for id in ids if self.rows[id]["role"] != "user"]
        return Conversation(
            CPE.name, self._id(root), self._items(ids), f"cpe:{root}", self._id(replies[-1]) if replies else None,
            title=None if label else text_or_none(self.rows[root]["title"]), model=self._model(ids),
            agent=label.split(":")[1] if label else None,
            created_at=from_iso(self.rows[root]["created_at"]),
        )  # fmt: skip

    def _id(self, id: str) -> str:
        return dated(id, self.rows[id]["created_at"])

    def _model(self, ids: list[str]) -> str | None:
        for id in reversed(ids) if "model_id" in self.tables.columns("messages") else ():
            for row in self.tables.rows("messages", ["model_id"], id=id):
                if row["model_id"]:
                    return str(row["model_id"])
        return None

    def _label(self, id: str) -> str | None:
        """`subagent:name:run`, with the root as the run if the title has none; None for other messages."""
        title = text_or_none(self.rows[id]["title"])
        if title and title.startswith("subagent:"):
            return title if title.count(":") >= 2 else f"{title}:{self.roots[id]}"
        return f"subagent:unknown:{self.roots[id]}" if self.rows[id]["is_subagent"] else None

    def _items(self, ids: list[str]) -> Iterator[Item]:
        for id in ids:
            row, parent = self.rows[id], self.parents[id]
            if row["role"] not in ROLES:
                yield Skipped(f"{self.place}: messages {id}", f"The role {row['role']!r} is unknown.", row)
                continue
            orphaned = row["parent_id"] and row["parent_id"] not in self.rows
            if orphaned:
                yield Skipped(f"{self.place}: messages {id}", f"Its parent {row['parent_id']!r} is missing.")
            yield self._imported(row, parent)

    def _imported(self, row: dict[str, Any], parent: str | None) -> ImportedMessage:
        (rest,) = self.tables.rows("messages", MESSAGE_COLUMNS, id=row["id"])
        before = None if parent is None else self._id(parent)
        compacted = parent is not None and row["parent_id"] is None
        reply = row["role"] == "assistant"
        usage = Usage(rest["input_tokens"], rest["output_tokens"], rest["cache_read_tokens"])
        return ImportedMessage(
            self._id(row["id"]), self._message(row, rest), before, from_iso(row["created_at"]),
            label=self._label(row["id"]) or text_or_none(row["title"]),
            kind="summary" if compacted else "message", covers=before if compacted else None,
            model=rest["model_id"] if reply else None, provider=rest["model_type"] if reply else None,
            usage=usage if reply and usage != Usage() else None,
        )  # fmt: skip

    def _message(self, row: dict[str, Any], rest: dict[str, Any]) -> Message:
        rows = self.tables.rows("blocks", BLOCK_COLUMNS, order="sequence_order", message_id=row["id"])
        error = bool(rest["tool_result_error"])
        fields = parse_json_or_none(rest["message_extra_fields"])
        blocks = tuple(results(rows, error) if row["role"] == "tool_result" else map(block, rows))
        return Message(row["role"], blocks, error, {"cpe": fields} if fields else None)


def results(rows: Iterable[dict[str, Any]], error: bool) -> Iterator[Block]:
    """The blocks of a message of results: consecutive rows with the same call id are one result."""
    for call, group in groupby(rows, key=lambda row: row["id"] or ""):
        parts = (content(row) for row in group)
        yield ToolResult(call, tuple(part for part in parts if isinstance(part, (Text, Media, Other))), error)


def block(row: dict[str, Any]) -> Block:
    extra = parse_json_or_none(row["extra_fields"])
    match row["block_type"]:
        case "thinking":
            return Thinking(row["content"] or "", extra, anthropic_raw(row["content"], extra))
        case "redacted_thinking":
            return Thinking("", extra, {"anthropic": {"type": "redacted_thinking", "data": row["content"]}})
        case "tool_call":
            return call(row, extra)
        case "content" | "" | None:
            return content(row)
    return Other(f"cpe.{row['block_type']}", row)


def anthropic_raw(text: str, extra: Json) -> Json:
    """Signed reasoning in the form that Anthropic accepts back."""
    signature = extra.get("anthropic_thinking_signature") if isinstance(extra, dict) else None
    return {"anthropic": {"type": "thinking", "thinking": text, "signature": signature}} if signature else None


def call(row: dict[str, Any], extra: Json) -> Block:
    content_json = parse_json_or_none(row["content"])
    if not isinstance(content_json, dict) or not isinstance(content_json.get("name"), str):
        return Other("cpe.tool_call", row)
    parameters = content_json.get("parameters")
    return ToolCall(row["id"] or "", content_json["name"], written({} if parameters is None else parameters), extra,
                    {"cpe": row["content"]})  # fmt: skip


def content(row: dict[str, Any]) -> Text | Media | Other:
    modality, mime, extra = row["modality_type"] or 0, row["mime_type"] or "", parse_json_or_none(row["extra_fields"])
    if modality == 0:
        return Text(row["content"] or "", extra)
    data = from_base64(row["content"])
    if data is None or modality not in MEDIA:
        return Other("cpe.content", row)
    mime = mime or MEDIA[modality]
    name = text_or_none(extra.get("filename")) if isinstance(extra, dict) else None
    return Media(kind_of(mime), mime, data, name=name, extra=extra)


IMPORTER: Importer = CPE()
