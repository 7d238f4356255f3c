"""Content of llm's rows: message parts, attachments by hash, and fragments that prompts share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bough.formats.media import kind_of
from bough.formats.payload import at, count, text_or_none, written
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.sqlite import Tables
from bough.model import Block, Json, Media, Other, Text, Thinking, ToolCall, ToolResult, Usage

FAMILY = "llm"
Row = dict[str, Any]


class Content:
    """Looks up the content that rows refer to."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def attachment(self, name: Json) -> Media | Other:
        """An attachment; its URL or path if the file has no bytes of it."""
        columns = ("id", "type", "path", "url", "content")
        for row in self._tables.rows("attachments", columns, blobs=("content",), id=name):
            mime, where = row["type"] or "", row["url"] or (f"file://{row['path']}" if row["path"] else None)
            data = row["content"]
            if isinstance(data, bytes) and data:
                return Media(kind_of(mime), mime, data=data)
            if where:
                return Media(kind_of(mime), mime, url=str(where))
        return Other("attachment", {FAMILY: {"id": name}})

    def fragment(self, number: Json) -> str:
        for row in self._tables.rows("fragments", ("content",), id=number):
            return row["content"] or ""
        return ""

    def linked(self, table: str, column: str, owner: Json, **where: Any) -> Iterator[Json]:
        """The values that a link table has for a row, in order."""
        owner_column = "response_id" if table.startswith(("prompt", "system")) else "tool_result_id"
        for row in self._tables.rows(table, (column,), order="order", **{owner_column: owner}, **where):
            yield row[column]

    def blocks(self, message: str) -> list[Block]:
        """The parts of a message."""
        rows = self._tables.rows(
            "parts", ("position", "type", "text", "payload"), order="position", message_hash=message
        )
        return [self._part(row, f"{message}:{row['position']}") for row in rows]

    def _part(self, row: Row, name: str) -> Block:
        payload = parse_json_or_none(row["payload"])
        text = self._text(row["text"], payload)
        raw = {FAMILY: {"type": row["type"], **payload}} if isinstance(payload, dict) and payload else None
        match row["type"]:
            case "text":
                return Text(text)
            case "reasoning":
                return Thinking(text, raw=raw)
            case "tool_call":
                return call(at(payload, "tool_call_id") or name, at(payload, "name"), at(payload, "arguments"))
            case "tool_result":
                attached = at(payload, "attachments")
                return self.result(
                    at(payload, "tool_call_id") or name,
                    at(payload, "name"),
                    at(payload, "output"),
                    at(payload, "exception"),
                    [at(one, "id") for one in attached] if isinstance(attached, list) else (),
                )
            case "attachment":
                return self.attachment(at(payload, "attachment", "id"))
            case kind:
                return Other(str(kind), {FAMILY: {"text": row["text"], "payload": payload}})

    def _text(self, text: Json, payload: Json) -> str:
        """The text, joined from fragments and literals if it is stored as references."""
        if isinstance(text, str):
            return text
        pieces = at(payload, "text_ref")
        return "".join(
            self.fragment(piece["fragment"]) if at(piece, "fragment") is not None else str(at(piece, "literal") or "")
            for piece in (pieces if isinstance(pieces, list) else ())
        )

    def result(
        self, call_id: Json, name: Json, output: Json, exception: Json, attachments: Iterable[Json] = ()
    ) -> ToolResult:
        text = output if isinstance(output, str) else "" if output is None else written(output)
        media = tuple(self.attachment(one) for one in attachments)
        extra = {"exception": exception} if exception else None
        return ToolResult(str(call_id), (Text(text), *media), bool(exception), text_or_none(name), extra)


def call(call_id: Json, name: Json, arguments: Json) -> ToolCall:
    return ToolCall(str(call_id), str(name), arguments if isinstance(arguments, str) else written(arguments))


def usage(row: Row) -> Usage | None:
    """The tokens of a reply; the details have the names that OpenAI gives them."""
    details = parse_json_or_none(row["token_details"])
    cached = count(details, "prompt_tokens_details", "cached_tokens")
    reasoning = count(details, "completion_tokens_details", "reasoning_tokens")
    counted = Usage(count(row, "input_tokens"), count(row, "output_tokens"), cached, reasoning)
    return None if counted == Usage() else counted


def envelope(row: Row, *columns: str) -> Json:
    """The given columns as an envelope; None if all are empty."""
    kept = {
        column: parse_json_or_none(row[column]) or row[column]
        for column in columns
        if row.get(column) not in (None, "", "{}")
    }
    return {FAMILY: kept} if kept else None
