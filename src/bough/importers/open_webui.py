"""Open WebUI: exported chats, or its database `webui.db`. Each chat is a tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from bough.formats.media import media_at
from bough.formats.payload import at, count, parsed, text_or_none, total, written
from bough.importers.common.files import open_files
from bough.importers.common.json_files import json_values, known
from bough.importers.common.json_reader import parse_json_or_none, text_start
from bough.importers.common.linked import linked
from bough.importers.common.sqlite import has_tables, open_tables
from bough.importers.common.synthetic_ids import parents_first
from bough.importers.common.timestamps import from_any
from bough.importers.types import Importer
from bough.model import Block, Json, Message, Other, Role, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "open-webui"
DATABASE = "webui.db"
_DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)</details>\n*', re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_SUMMARY = re.compile(r"^\s*<summary>.*?</summary>\s*", re.DOTALL)
KEPT = ("tags", "params", "models", "system", "pinned", "archived", "folder_id", "meta")
Record = dict[str, Json]


class OpenWebUI:
    """Reads exports of one or all chats, and the database."""

    name = NAME
    title = "Open WebUI"

    def recognises(self, path: Path) -> bool:
        if has_tables(path, chat=("id", "user_id", "title", "chat")):
            return True
        text = text_start(path)
        is_tree = '"history"' in text and '"messages"' in text and '"childrenIds"' in text
        return text.startswith(("{", "[")) and is_tree and '"parentId"' in text

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        records = _rows(path) if has_tables(path, chat=("chat",)) else _exported(path)
        for place, record in records:
            if isinstance(record, Skipped):
                yield record
            elif isinstance(at(record, "chat", "history", "messages"), dict):
                yield _conversation(record, place)
            else:
                yield Skipped(place, "It is not a chat with a history.", record)

    def default_paths(self) -> list[Path]:
        own = os.environ.get("DATA_DIR")
        roots = [Path(own)] if own else []
        found = [root / DATABASE for root in (*roots, Path.home() / ".open-webui", Path.home() / "open-webui")]
        return [path for path in found if has_tables(path, chat=("id", "user_id", "title", "chat"))]


def _exported(path: Path) -> Iterator[tuple[str, Json | Skipped]]:
    with open_files(path) as files:
        for place, value in json_values(files):
            # Older exports of one chat are the inner object alone.
            inner = isinstance(at(value, "history", "messages"), dict)
            yield place, {"chat": value, **value} if inner and isinstance(value, dict) else value


def _rows(path: Path) -> Iterator[tuple[str, Json | Skipped]]:
    """The chats of the database, which also holds the users: it is read in place."""
    columns = ("id", "title", "chat", "created_at", "updated_at", "pinned", "archived", "folder_id", "meta")
    with open_tables(path, in_place=True) as tables:
        for row in tables.rows("chat", columns, order="updated_at,id"):
            record: dict[str, Any] = {**row, "chat": parse_json_or_none(row["chat"])}
            record["meta"] = parse_json_or_none(row["meta"])
            yield f"chat:{row['id']}", record


def _conversation(record: Json, place: str) -> Conversation:
    chat = record["chat"]
    history = chat["history"]
    messages = {id: one for id, one in history["messages"].items() if isinstance(one, dict)}
    ends = {id: _last(id, one) for id, one in messages.items()}
    models = chat.get("models")
    kept = {key: chat.get(key) or record.get(key) for key in KEPT if chat.get(key) or record.get(key)}
    current = history.get("currentId")
    return Conversation(
        NAME, str(record.get("id") or chat.get("id") or place), _items(messages, ends),
        head=ends.get(current) if isinstance(current, str) else None,
        title=text_or_none(record.get("title")) or text_or_none(chat.get("title")),
        model=text_or_none(models[0]) if isinstance(models, list) and models else None,
        created_at=from_any(record.get("created_at")), updated_at=from_any(record.get("updated_at")),
        extra={NAME: kept} if kept else None,
    )  # fmt: skip


def _items(messages: dict[str, Record], ends: dict[str, str]) -> Iterator[Item]:
    parents = {id: text_or_none(one.get("parentId")) for id, one in messages.items()}
    for id, parent in parents_first(parents):
        one = messages[id]
        yield from linked(
            id, _read(one), ends[parent] if parent else None, from_any(one.get("timestamp")),
            model=text_or_none(one.get("model")), usage=_usage(one), finished=one.get("done") is not False,
        )  # fmt: skip


def _last(id: str, one: Record) -> str:
    more = len(_read(one)) - 1
    return f"{id}#{more}" if more > 0 else id


def _read(one: Record) -> list[Message]:
    """The messages of an entry: in a reply, reasoning and calls are HTML elements between the text."""
    content, role = one.get("content"), one.get("role")
    files = list(_files(one.get("files")))
    failed = bool(one.get("error"))
    if role != "assistant" or not isinstance(content, str):
        parts = content if isinstance(content, list) else [content]
        blocks = [_part(part) for part in parts if part not in (None, "")]
        kind: Role = "user" if role == "user" else "assistant" if role == "assistant" else "system"
        return [Message(kind, (*blocks, *files), failed)]
    messages: list[Message] = []
    blocks, end = [], 0
    for found in _DETAILS.finditer(content):
        blocks += _text(content[end : found.start()])
        end = found.end()
        results: list[ToolResult] = []
        blocks += _details(found[1], found[2], found[3], results)
        if results:
            messages += [Message("assistant", tuple(blocks)), Message("tool_result", tuple(results))]
            blocks = []
    blocks += [*_text(content[end:]), *files]
    if failed and isinstance(message := at(one, "error", "content"), str):
        blocks.append(Text(message))
    return [*messages, Message("assistant", tuple(blocks), failed)] if blocks or not messages else messages


def _text(text: str) -> list[Block]:
    return [Text(text.strip("\n"))] if text.strip() else []


def _part(part: Json) -> Block:
    if isinstance(part, str):
        return Text(part)
    if isinstance(text := at(part, "text"), str):
        return Text(text)
    url = text_or_none(at(part, "image_url", "url"))
    return media_at(url, None) if url else Other("part", {NAME: part})


def _details(kind: str, attributes: str, body: str, results: list[ToolResult]) -> Iterator[Block]:
    """An element of a reply: reasoning as a quotation, or a call with its result in attributes."""
    fields = {name: unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    inner = unescape(_SUMMARY.sub("", body)).strip("\n")
    if kind == "reasoning":
        yield Thinking("\n".join(re.sub(r"^> ?", "", line) for line in inner.split("\n")))
        return
    if kind != "tool_calls" or "name" not in fields:
        yield Other(kind, {NAME: {**fields, "body": inner}})
        return
    call_id = fields.get("id") or f"call_{fields['name']}"
    yield ToolCall(call_id, fields["name"], _arguments(fields.get("arguments", "")))
    if result := fields.get("result"):
        value = parse_json_or_none(result)
        text = value if isinstance(value, str) else result
        results.append(ToolResult(call_id, (Text(text),), name=fields["name"]))


def _arguments(text: str) -> str:
    """The arguments, which are JSON, or JSON within a JSON string."""
    value = parse_json_or_none(text)
    inner = value if isinstance(value, str) else text
    return inner if parsed(inner) is not None else written({"input": inner})


def _files(files: Json) -> Iterator[Block]:
    for one in files if isinstance(files, list) else ():
        url = text_or_none(at(one, "url"))
        if at(one, "type") == "image" and url:
            yield media_at(url, None)
        else:
            yield Other("file", {NAME: {key: at(one, key) for key in ("id", "name", "type", "url") if at(one, key)}})


def _usage(one: Record) -> Usage | None:
    """Tokens in the words of OpenAI or Ollama, whichever answered."""
    usage = one.get("usage") or one.get("info")
    given = count(usage, "prompt_tokens") or count(usage, "input_tokens") or count(usage, "prompt_eval_count")
    replied = count(usage, "completion_tokens") or count(usage, "output_tokens") or count(usage, "eval_count")
    return known(
        Usage(
            total(given), total(replied), count(usage, "prompt_tokens_details", "cached_tokens"),
            count(usage, "completion_tokens_details", "reasoning_tokens"),
        )
    )  # fmt: skip


IMPORTER: Importer = OpenWebUI()
