"""LibreChat: an exported conversation, flat or with the children inside each message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import at, count, text_or_none, written
from bough.importers.common.files import open_files
from bough.importers.common.json_files import json_values, known
from bough.importers.common.json_reader import text_start
from bough.importers.common.linked import linked
from bough.importers.common.synthetic_ids import parents_first
from bough.importers.common.timestamps import from_any
from bough.importers.types import Importer
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "librechat"
KEPT = ("endpoint", "options", "branches", "exportAt")
Record = dict[str, Json]


class LibreChat:
    """Reads exports, one conversation per file."""

    name = NAME
    title = "LibreChat"

    def recognises(self, path: Path) -> bool:
        text = text_start(path)
        return text.startswith("{") and '"conversationId"' in text and '"messages' in text and '"messageId"' in text

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for place, value in json_values(files):
                if isinstance(value, Skipped):
                    yield value
                elif isinstance(at(value, "conversationId"), str) and _messages_of(value) is not None:
                    yield _conversation(value, place)
                else:
                    yield Skipped(place, "It is not a conversation.", value)

    def default_paths(self) -> list[Path]:
        return []


def _messages_of(record: Json) -> list[Json] | None:
    found = [at(record, key) for key in ("messages", "messagesTree")]
    return next((messages for messages in found if isinstance(messages, list)), None)


def _conversation(record: Record, place: str) -> Conversation:
    malformed: list[Skipped] = []
    messages = {str(one["messageId"]): one for one in _flat(_messages_of(record) or [], place, malformed)}
    times = {id: from_any(one.get("createdAt")) for id, one in messages.items()}
    kept = {key: record[key] for key in KEPT if record.get(key)}
    model = text_or_none(at(record, "options", "model"))
    # The export does not say which branch was shown: the newest message is on the one used last.
    newest = max(messages, key=lambda id: times[id] or 0, default=None)
    ends = {id: _last(id, one) for id, one in messages.items()}
    return Conversation(
        NAME, record["conversationId"], [*malformed, *_items(messages, ends, model)],
        head=ends[newest] if newest else None, title=text_or_none(record.get("title")), model=model,
        created_at=min(filter(None, times.values()), default=None),
        updated_at=max(filter(None, times.values()), default=None), extra={NAME: kept} if kept else None,
    )  # fmt: skip


def _flat(messages: list[Json], place: str, malformed: list[Skipped], parent: str | None = None) -> Iterator[Record]:
    """The messages without nesting. Children of a nested export may lack the id of their parent."""
    for number, one in enumerate(messages):
        if not isinstance(one, dict) or not isinstance(one.get("messageId"), str):
            malformed.append(Skipped(f"{place}.messages[{number}]", "It is not a message.", one))
            continue
        rest = {key: value for key, value in one.items() if key != "children"}
        yield {**({"parentMessageId": parent} if parent else {}), **rest}
        if isinstance(children := one.get("children"), list):
            yield from _flat(children, place, malformed, one["messageId"])


def _items(messages: dict[str, Record], ends: dict[str, str], model: str | None) -> Iterator[Item]:
    parents = {id: text_or_none(one.get("parentMessageId")) for id, one in messages.items()}
    for id, parent in parents_first(parents):
        record = messages[id]
        tokens = count(record, "tokenCount")
        yield from linked(
            id, _read(record), ends[parent] if parent else None, from_any(record.get("createdAt")),
            model=text_or_none(record.get("model")) or model, usage=known(Usage(output_tokens=tokens)),
            finished=record.get("unfinished") is not True,
        )  # fmt: skip


def _last(id: str, record: Record) -> str:
    more = len(_read(record)) - 1
    return f"{id}#{more}" if more > 0 else id


def _read(record: Record) -> list[Message]:
    """A message; a reply that contains results becomes several: call, result, the rest."""
    parts, failed = record.get("content"), record.get("error") is True
    files = tuple(_files(record.get("files")))
    if record.get("isCreatedByUser") is True or not isinstance(parts, list) or not parts:
        text = text_or_none(record.get("text")) or "".join(_text(part) for part in parts or ())
        role = "user" if record.get("isCreatedByUser") is True else "assistant"
        return [Message("user" if role == "user" else "assistant", (Text(text), *files), failed)]
    messages: list[Message] = []
    blocks: list[Block] = [*files]
    for part in parts:
        call = at(part, "tool_call")
        if not isinstance(call, dict):
            blocks.append(_block(part))
            continue
        blocks.append(ToolCall(str(call.get("id")), str(call.get("name")), _arguments(call.get("args"))))
        if isinstance(output := call.get("output"), str):
            result = ToolResult(str(call.get("id")), (Text(output),), name=text_or_none(call.get("name")))
            messages += [Message("assistant", tuple(blocks)), Message("tool_result", (result,))]
            blocks = []
    if blocks or not messages:
        messages.append(Message("assistant", tuple(blocks), failed))
    return messages


def _arguments(given: Json) -> str:
    return given if isinstance(given, str) else written(given or {})


def _block(part: Json) -> Block:
    match at(part, "type"):
        case "text":
            return Text(_text(part))
        case "think" if isinstance(text := part.get("think"), str):
            return Thinking(text)
        case kind:
            return Other(str(kind), {NAME: part})


def _text(part: Json) -> str:
    """The text of a part, which some versions have as an object."""
    return text_or_none(at(part, "text")) or text_or_none(at(part, "text", "value")) or ""


def _files(files: Json) -> Iterator[Media]:
    """Attached files: the export has their names only."""
    for one in files if isinstance(files, list) else ():
        mime = text_or_none(at(one, "type")) or "application/octet-stream"
        if isinstance(id := at(one, "file_id"), str):
            kind = "image" if mime.startswith("image/") else "document"
            name = text_or_none(at(one, "filename"))
            yield Media("image" if kind == "image" else "document", mime, file_id=id, name=name)


IMPORTER: Importer = LibreChat()
