"""One composer of Cursor: bubbles of text, thinking and tools, in the order of its headers."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.payload import at, count, parsed, text_or_none, written
from bough.importers.common.json_files import known
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.linked import linked
from bough.importers.common.sqlite import Tables
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.model import Block, Json, Message, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "cursor"
USER = 1
FAILED = ("error", "cancelled")
KEPT = ("unifiedMode", "forceMode", "status", "isAgentic", "usageData", "subtitle")
Record = dict[str, Json]


class Composer:
    def __init__(self, tables: Tables, table: str, id: str, data: Record) -> None:
        self._tables = tables
        self._table = table
        self._id = id
        self._data = data

    def conversation(self, directory: str | None) -> Conversation:
        data = self._data
        kept = {key: data[key] for key in KEPT if data.get(key)}
        return Conversation(
            NAME,
            self._id,
            self._items(),
            title=text_or_none(data.get("name")) or shortened(self._prompt()),
            directory=directory,
            model=_model(data),
            agent="subagent" if at(data, "subagentInfo") else None,
            parent=text_or_none(at(data, "subagentInfo", "parentComposerId")),
            parent_call=text_or_none(at(data, "subagentInfo", "toolCallId")),
            created_at=from_any(data.get("createdAt")),
            updated_at=from_any(data.get("lastUpdatedAt")),
            extra={NAME: kept} if kept else None,
        )

    def _prompt(self) -> str:
        return next((_text(one) for _, one in self._bubbles() if isinstance(one, dict) and one.get("type") == USER), "")

    def _bubbles(self) -> Iterator[tuple[str, Json]]:
        """The bubbles with their ids; older versions have them in the composer itself."""
        inside = self._data.get("conversation")
        if isinstance(inside, list) and inside:
            yield from ((str(at(one, "bubbleId") or number), one) for number, one in enumerate(inside))
            return
        headers = self._data.get("fullConversationHeadersOnly")
        for header in headers if isinstance(headers, list) else ():
            if isinstance(id := at(header, "bubbleId"), str):
                key = f"bubbleId:{self._id}:{id}"
                row = next(self._tables.rows(self._table, ("value",), key=key), None)
                yield id, parse_json_or_none(row["value"]) if row else None

    def _items(self) -> Iterator[Item]:
        parent, model = None, _model(self._data)
        time = from_any(self._data.get("createdAt"))
        for id, bubble in self._bubbles():
            if not isinstance(bubble, dict):
                yield Skipped(f"bubbleId:{self._id}:{id}", "The message is missing from the database.", bubble)
                continue
            messages = _messages(bubble)
            if not messages:
                continue
            written_at = _time(bubble)
            made = linked(
                f"{self._id}:{id}", messages, parent, written_at or (None if parent else time),
                model=text_or_none(at(bubble, "modelInfo", "modelName")) or model, usage=_usage(bubble),
            )  # fmt: skip
            parent = made[-1].id
            yield from made


def _model(data: Record) -> str | None:
    return text_or_none(at(data, "modelConfig", "modelName"))


def _time(bubble: Record) -> int | None:
    timing = bubble.get("timingInfo")
    named = (bubble.get("createdAt"), at(timing, "clientRpcSendTime"), at(timing, "clientEndTime"))
    return next((time for value in named if (time := from_any(value)) is not None), None)


def _messages(bubble: Record) -> list[Message]:
    """The message of a bubble, and the result of its tool. A bubble without content only marks a step."""
    text = _text(bubble)
    if bubble.get("type") == USER:
        return [Message("user", (Text(text),))] if text else []
    blocks: list[Block] = []
    if thinking := text_or_none(at(bubble, "thinking", "text")) or text_or_none(bubble.get("thinking")):
        blocks.append(Thinking(thinking, raw={NAME: bubble["thinking"]}))
    if text:
        blocks.append(Text(text))
    tool = bubble.get("toolFormerData")
    results = list(_tool(tool, str(bubble.get("bubbleId")), blocks)) if isinstance(tool, dict) else []
    return [Message("assistant", tuple(blocks)), *results] if blocks else []


def _text(bubble: Record) -> str:
    return text_or_none(bubble.get("text")) or text_or_none(bubble.get("rawText")) or ""


def _tool(tool: Record, bubble: str, blocks: list[Block]) -> Iterator[Message]:
    """Adds the call of a tool to the blocks; its result is a message."""
    name = text_or_none(tool.get("name"))
    if name is None:
        return
    call_id = text_or_none(tool.get("toolCallId")) or bubble
    given = text_or_none(tool.get("rawArgs")) or text_or_none(tool.get("params")) or "{}"
    blocks.append(ToolCall(call_id, name, given if parsed(given) is not None else written({"input": given})))
    result, failed = tool.get("result"), tool.get("status") in FAILED
    if result is not None or failed:
        error = text_or_none(at(tool, "error")) or text_or_none(at(parse_json_or_none(tool.get("error")), "message"))
        text = result if isinstance(result, str) else written(result) if result is not None else error or ""
        yield Message("tool_result", (ToolResult(call_id, (Text(text),) if text else (), failed, name),), failed)


def _usage(bubble: Record) -> Usage | None:
    """The tokens of a reply; Cursor writes 0 for unknown ones."""
    tokens = bubble.get("tokenCount")
    return known(Usage(count(tokens, "inputTokens") or None, count(tokens, "outputTokens") or None))
