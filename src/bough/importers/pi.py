"""pi: a JSONL file per session, whose entries form a tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path, PurePosixPath

from bough.formats.media import from_base64, kind_of
from bough.formats.payload import at, count, text_or_none, total, written
from bough.importers.common.files import Files, open_files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.linked import linked
from bough.importers.common.order import latest_last
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.importers.types import Importer
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped
from bough.model.values import replace

NAME = "pi"
FILES_TO_TRY = 20
KEPT_ELSEWHERE = {"role", "content", "timestamp", "model", "provider", "usage", "toolCallId", "toolName", "isError"}
Record = dict[str, Json]


class Pi:
    """Reads `~/.pi/agent/sessions`, a project of it, or one session."""

    name = NAME
    title = "pi"

    def recognises(self, path: Path) -> bool:
        if path.is_file() and path.suffix != ".jsonl":
            return False
        with open_files(path) as files:
            names = [name for name in files.names if name.endswith(".jsonl")][:FILES_TO_TRY]
            return any(_header(files, name) is not None for name in names)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            names = [name for name in files.names if name.endswith(".jsonl")]
            sessions = [SessionFile(files, name) for name in names if _header(files, name) is not None]
            for session in latest_last(sessions, attrgetter("ended"), attrgetter("name")):
                yield session.conversation()

    def default_paths(self) -> list[Path]:
        own = os.environ.get("PI_CODING_AGENT_DIR")
        root = (Path(own).expanduser() if own else Path.home() / ".pi" / "agent") / "sessions"
        return [root] if root.is_dir() else []


def _header(files: Files, name: str) -> Record | None:
    with files.open(name) as stream:
        first = next(json_lines(stream, name), None)
    value = first.value if isinstance(first, Line) else None
    is_header = at(value, "type") == "session" and isinstance(at(value, "cwd"), str)
    return value if is_header and isinstance(value, dict) else None


class SessionFile:
    """One session. An entry that is no message gives its place to its children."""

    def __init__(self, files: Files, name: str) -> None:
        self.name = name
        self._files = files
        self._header = _header(files, name) or {}
        self._session = text_or_none(self._header.get("id")) or PurePosixPath(name).stem
        self._title: str | None = None
        self._prompt = ""
        self._model: str | None = None
        self._labels: dict[str, str | None] = {}
        self.ended = from_any(self._header.get("timestamp")) or 0
        for entry in self._entries():
            if not isinstance(entry, Skipped):
                self._describe(entry[1])
        self._ends: dict[str, str | None] = {}
        """The id of the last message of each entry, or of the one before it."""
        self._before: dict[str, str | None] = {}
        self.last: str | None = None

    def conversation(self) -> Conversation:
        rest = {key: value for key, value in self._header.items() if key not in ("type", "id", "cwd", "timestamp")}
        return Conversation(
            NAME,
            self._session,
            self._items(),
            title=self._title or shortened(self._prompt),
            head=self._head(),
            directory=text_or_none(self._header.get("cwd")) or None,
            model=self._model,
            created_at=from_any(self._header.get("timestamp")),
            updated_at=self.ended or None,
            extra={NAME: rest} if rest else None,
        )

    def _entries(self) -> Iterator[tuple[str, Record] | Skipped]:
        with self._files.open(self.name) as stream:
            for line in json_lines(stream, self.name):
                if isinstance(line, Skipped):
                    yield line
                elif not isinstance(line.value, dict):
                    yield Skipped(line.place, "It is not an entry.", line.value)
                elif line.value.get("type") != "session":
                    # The first version of the files had no ids: each entry followed the one before.
                    yield text_or_none(line.value.get("id")) or str(line.number), line.value

    def _describe(self, entry: Record) -> None:
        self.ended = max(self.ended, from_any(entry.get("timestamp")) or 0)
        message = entry.get("message")
        if entry.get("type") == "session_info":
            self._title = text_or_none(entry.get("name")) or self._title
        elif entry.get("type") == "label" and isinstance(target := entry.get("targetId"), str):
            self._labels[target] = text_or_none(entry.get("label"))
        elif at(message, "role") == "user" and not self._prompt:
            self._prompt = "".join(block.text for block in _blocks(at(message, "content")) if isinstance(block, Text))
        self._model = text_or_none(at(message, "model")) or self._model

    def _head(self) -> str | None:
        """pi continues at the last entry of the file."""
        list(self._items())
        return self.last

    def _items(self) -> Iterator[Item]:
        self._ends, self._before, self.last = {}, {}, None
        for entry in self._entries():
            if isinstance(entry, Skipped):
                yield entry
                continue
            id, record = entry
            parent = self._parent(record)
            made = self._messages(id, record, parent)
            self._before[id] = parent
            self._ends[id] = made[-1].id if made else parent
            self.last = self._ends[id]
            yield from made

    def _parent(self, record: Record) -> str | None:
        if "parentId" not in record:
            return self.last
        above = record["parentId"]
        return self._ends.get(above, self.last) if isinstance(above, str) else None

    def _messages(self, id: str, record: Record, parent: str | None) -> list[ImportedMessage]:
        name, time = f"{self._session}:{id}", from_any(record.get("timestamp"))
        match record.get("type"):
            case "message" if isinstance(message := record.get("message"), dict):
                failed = message.get("stopReason") in ("error", "aborted")
                made = linked(
                    name, [_message(message)], parent, time, model=text_or_none(message.get("model")),
                    provider=text_or_none(message.get("provider")), usage=_usage(message.get("usage")),
                    request_id=text_or_none(message.get("responseId")), finished=not failed,
                )  # fmt: skip
            case "compaction" if parent is not None:
                kept = record.get("firstKeptEntryId")
                covers = (self._before.get(kept) if isinstance(kept, str) else None) or parent
                text = Text(text_or_none(record.get("summary")) or "")
                rest = {key: record[key] for key in ("tokensBefore", "details") if key in record}
                message = Message("user", (text,), envelope={NAME: rest} if rest else None)
                made = [ImportedMessage(name, message, parent, time, kind="summary", covers=covers)]
            case "branch_summary":
                text = Text(text_or_none(record.get("summary")) or "")
                made = linked(
                    name, [Message("user", (text,), envelope={NAME: {"type": "branch_summary"}})], parent, time
                )
            case "custom_message":
                about = {key: record[key] for key in ("customType", "details", "display") if key in record}
                made = linked(
                    name, [Message("user", _blocks(record.get("content")), envelope={NAME: about})], parent, time
                )
            case _:
                return []
        label = self._labels.get(id)
        return [_labelled(one, label) for one in made] if label else made


def _labelled(one: ImportedMessage, label: str) -> ImportedMessage:
    return replace(one, label=label)


def _message(message: Record) -> Message:
    rest = {key: value for key, value in message.items() if key not in KEPT_ELSEWHERE and value is not None}
    envelope = {NAME: rest} if rest else None
    role, blocks = message.get("role"), _blocks(message.get("content"))
    if role == "assistant":
        return Message("assistant", blocks, message.get("stopReason") == "error", envelope)
    if role == "toolResult":
        content = tuple(block for block in blocks if isinstance(block, (Text, Media, Other)))
        failed = message.get("isError") is True
        name = text_or_none(message.get("toolName"))
        result = ToolResult(str(message.get("toolCallId")), content, failed, name)
        return Message("tool_result", (result,), failed, envelope)
    if role == "bashExecution":
        text = f"$ {message.get('command')}\n{message.get('output') or ''}"
        return Message("user", (Text(text),), envelope={NAME: {"role": role, **rest}})
    if role in ("compactionSummary", "branchSummary"):
        return Message("user", (Text(text_or_none(message.get("summary")) or ""),), envelope={NAME: {"role": role}})
    return Message("user" if role in ("user", "custom", "hookMessage") else "system", blocks, envelope=envelope)


def _blocks(content: Json) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_block(item) for item in content if isinstance(item, dict)) if isinstance(content, list) else ()


def _block(item: Record) -> Block:
    raw = {NAME: item}
    match item.get("type"):
        case "text" if isinstance(text := item.get("text"), str):
            return Text(text, raw=raw if item.get("textSignature") else None)
        case "thinking" if isinstance(text := item.get("thinking"), str):
            return Thinking(text, raw=raw)
        case "toolCall":
            signed = raw if item.get("thoughtSignature") else None
            return ToolCall(
                str(item.get("id")), str(item.get("name")), written(item.get("arguments") or {}), raw=signed
            )
        case "image" if (data := from_base64(item.get("data"))) is not None:
            mime = text_or_none(item.get("mimeType")) or "image/png"
            return Media(kind_of(mime), mime, data=data)
        case kind:
            return Other(str(kind), raw)


def _usage(counts: Json) -> Usage | None:
    read, stored = count(counts, "cacheRead"), count(counts, "cacheWrite")
    cost = at(counts, "cost", "total")
    usage = Usage(
        total(count(counts, "input"), read, stored), count(counts, "output"), read,
        cost=float(cost) if isinstance(cost, (int, float)) and cost > 0 else None,  # pi writes 0 for an unknown price
    )  # fmt: skip
    return None if usage == Usage() or not (usage.input_tokens or usage.output_tokens) else usage


IMPORTER: Importer = Pi()
