"""llm before 0.32: a conversation is a sequence of rows, one per response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bough.importers.common.sqlite import Tables
from bough.importers.common.timestamps import from_iso
from bough.importers.llm.content import Content, Row, call, envelope, usage
from bough.model import Block, Message, Text, Thinking, ToolResult
from bough.model.imported import ImportedMessage

COLUMNS = (
    "id", "model", "resolved_model", "prompt", "system", "prompt_json", "options_json", "response", "response_json",
    "reasoning", "conversation_id", "duration_ms", "datetime_utc", "input_tokens", "output_tokens", "token_details",
    "schema_id",
)  # fmt: skip
KEPT = ("prompt_json", "options_json", "response_json", "duration_ms", "schema_id")


class ResponseTables:
    """Reads the responses of a conversation."""

    def __init__(self, tables: Tables, content: Content) -> None:
        self._tables = tables
        self._content = content

    def of(self, conversation: str | None) -> Iterator[Row]:
        """The rows of a conversation, oldest first: ids ascend."""
        return self._tables.rows("responses", COLUMNS, order="id", conversation_id=conversation)

    def one(self, id: Any) -> Iterator[Row]:
        """The row of a response without a conversation."""
        return self._tables.rows("responses", COLUMNS, id=id, conversation_id=None)

    def items(self, rows: Iterable[Row]) -> Iterator[ImportedMessage]:
        """One path: the input of each response, and its output."""
        last: str | None = None
        system = ""
        for row in rows:
            for part, message in self._input(row, system):
                name = f"{row['id']}:{part}"
                yield ImportedMessage(name, message, last, from_iso(row["datetime_utc"]))
                last = name
                system = message.text if part == "system" else system
            yield self.reply(row, str(row["id"]), last)
            last = str(row["id"])

    def is_more_than_words(self, row: Row) -> bool:
        """Whether a response has tool calls, results or attachments."""
        tables = ("prompt_attachments", "tool_calls", "tool_results")
        return any(True for table in tables for _ in self._tables.rows(table, ("response_id",), response_id=row["id"]))

    def reply(self, row: Row, name: str, parent: str | None) -> ImportedMessage:
        message = Message("assistant", tuple(self._output(row)), envelope=envelope(row, *KEPT))
        model = row["resolved_model"] or row["model"]
        return ImportedMessage(name, message, parent, from_iso(row["datetime_utc"]), model=model, usage=usage(row))

    def _input(self, row: Row, before: str) -> Iterator[tuple[str, Message]]:
        """The input of a response: system prompt if it changed, tool results, and prompt."""
        system, text = self._text(row, "system", "system_fragments"), self._text(row, "prompt", "prompt_fragments")
        if system and system != before:
            yield "system", Message("system", (Text(system),))
        if results := tuple(self._results(row)):
            yield "tools", Message("tool_result", results, any(result.error for result in results))
        attached = map(self._content.attachment, self._content.linked("prompt_attachments", "attachment_id", row["id"]))
        if blocks := (*([Text(text)] if text else ()), *attached):
            yield "prompt", Message("user", blocks)

    def _text(self, row: Row, column: str, fragments: str) -> str:
        pieces = [self._content.fragment(one) for one in self._content.linked(fragments, "fragment_id", row["id"])]
        return "\n".join(piece for piece in (*pieces, row[column] or "") if piece)

    def _output(self, row: Row) -> Iterator[Block]:
        if row["reasoning"]:
            yield Thinking(row["reasoning"])
        if row["response"]:
            yield Text(row["response"])
        for one in self._tables.rows(
            "tool_calls", ("id", "name", "arguments", "tool_call_id"), order="id", response_id=row["id"]
        ):
            yield call(one["tool_call_id"] or one["name"], one["name"], one["arguments"] or "{}")

    def _results(self, row: Row) -> Iterator[ToolResult]:
        columns = ("id", "name", "output", "tool_call_id", "exception")
        for one in self._tables.rows("tool_results", columns, order="id", response_id=row["id"]):
            yield self._content.result(
                one["tool_call_id"] or one["name"],
                one["name"],
                one["output"],
                one["exception"],
                self._content.linked("tool_results_attachments", "attachment_id", one["id"]),
            )
