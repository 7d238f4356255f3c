"""The store as four tables for analysts: an SQLite file, or Parquet files. Every column has one type.

The columns are those of the views `bough_messages`, `bough_replies`, `bough_turns` and `bough_sessions`, with the whole
text of every message.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bough.errors import Invalid
from bough.model import Block, Message, Node, ReplyInfo, SessionInfo, Text, Thinking, ToolCall, ToolResult, TurnInfo
from bough.model.times import iso

if TYPE_CHECKING:
    from bough.store import Store

ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean", "time"]
PAGE = 200
SQLITE_TYPES = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER", "time": "TEXT"}
DUCKDB_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
SHORTEST_LINE = 16 * 1024 * 1024
"""Bytes of a line that DuckDB reads without being asked to."""


class Column(NamedTuple):
    """A column of a table, and how its value is read from the object of a row."""

    name: str
    type: ColumnType
    read: Callable[[Any], Any]


class MessageWithReply(NamedTuple):
    """A message with what its turn and its reply say of it."""

    node: Node
    session: str | None
    reply: ReplyInfo | None


def _columns(type: ColumnType, *names: str, at: str = "") -> list[Column]:
    return [Column(name, type, attrgetter(at + name)) for name in names]


def _times(*names: str) -> list[Column]:
    def time(name: str) -> Callable[[Any], str | None]:
        return lambda row: iso(getattr(row, name))

    return [Column(name, "time", time(name)) for name in names]


def _usage() -> list[Column]:
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    return [*_columns("integer", *names, at="usage."), *_columns("real", "cost", at="usage.")]


def _of_reply(name: str) -> Callable[[MessageWithReply], Any]:
    return lambda row: row.reply and attrgetter(name)(row.reply)


COLUMNS: dict[str, list[Column]] = {
    "messages": [
        *_columns("text", "id", "parent_id", "turn_id", at="node."),
        Column("session", "text", attrgetter("session")),
        *_columns("text", "role", "kind", "label", at="node."),
        Column("error", "boolean", attrgetter("node.message.error")),
        Column("model", "text", _of_reply("model")),
        Column("provider", "text", _of_reply("provider")),
        Column("cost", "real", _of_reply("usage.cost")),
        Column("created_at", "time", lambda row: iso(row.node.created_at)),
        Column("text", "text", lambda row: message_text(row.node.message)),
        Column("size", "integer", lambda row: len((message_text(row.node.message) or "").encode("utf-8", "replace"))),
    ],
    "replies": [
        *_columns("text", "message_id", "turn_id", "session", "model", "provider", "request_id"),
        *_usage(),
        *_times("started_at", "first_token_at", "finished_at"),
    ],
    "turns": [
        *_columns("text", "id", "session", "status", "parent_id", "last_id", "caller_id", "model", "provider"),
        *_usage(),
        *_columns("text", "error"),
        *_times("started_at", "finished_at"),
    ],
    "sessions": [
        Column("session", "text", attrgetter("key")),
        *_columns("text", "channel", "channel_id", "directory", "title", "agent", "model", "head_id"),
        Column("parent", "text", attrgetter("parent_key")),
        *_columns("text", "forked_from"),
        *_times("created_at", "updated_at"),
    ],
}


def rows(store: Store, table: str) -> Iterator[list[Any]]:
    """The rows of a table, a page in memory at a time, in the order of its columns."""
    found: dict[str, Callable[[], Iterable[MessageWithReply | ReplyInfo | TurnInfo | SessionInfo]]] = {
        "messages": lambda: _messages(store), "replies": store.list_replies, "turns": store.list_turns,
        "sessions": store.sessions,
    }  # fmt: skip
    columns = COLUMNS[table]
    for row in found[table]():
        yield [_clean(column.read(row)) for column in columns]


def _messages(store: Store) -> Iterator[MessageWithReply]:
    nodes = store.list_messages(ascending=True)
    while page := list(islice(nodes, PAGE)):
        begun = sorted({node.turn_id for node in page if node.turn_id is not None})
        sessions = {turn.id: turn.session for turn in store.list_turns(of=begun)}
        replies = {reply.message_id: reply for reply in store.list_replies(of=[node.id for node in page])}
        yield from (MessageWithReply(node, sessions.get(node.turn_id or ""), replies.get(node.id)) for node in page)


def _clean(cell: Any) -> Any:
    """Lone surrogates have no UTF-8: they become question marks."""
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell


def write_sqlite(store: Store, target: str) -> None:
    """Writes a new SQLite file with the four tables."""
    import apsw

    connection = apsw.Connection(target)
    try:
        connection.execute("PRAGMA journal_mode=OFF")  # what is half-written is deleted by the caller
        with connection:
            for table, columns in COLUMNS.items():
                types = ", ".join(f"{column.name} {SQLITE_TYPES[column.type]}" for column in columns)
                connection.execute(f"CREATE TABLE {table} ({types}) STRICT")
                places = ", ".join("?" * len(columns))
                connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows(store, table))
    finally:
        connection.close()


def write_parquet(store: Store, table: str, target: str) -> None:
    """Writes one table as a Parquet file. Raises `Invalid` without DuckDB."""
    try:
        import duckdb
    except ImportError:
        raise Invalid("Parquet is written with DuckDB: pip install 'bough[parquet]'.") from None
    columns, longest = COLUMNS[table], SHORTEST_LINE
    with TemporaryDirectory(prefix="bough-") as directory:
        lines = os.path.join(directory, "rows.jsonl")
        with open(lines, "w", encoding="utf-8") as file:
            for row in rows(store, table):
                line = json.dumps(dict(zip((column.name for column in columns), row, strict=True)))
                longest = max(longest, len(line) + 1)
                file.write(f"{line}\n")
        types = {column.name: DUCKDB_TYPES[column.type] for column in columns}
        with duckdb.connect(config={"threads": 1}) as connection:  # each thread holds two of the longest line
            read = "read_json(?, format='newline_delimited', columns=?, maximum_object_size=?)"
            relation = connection.sql(f"SELECT * FROM {read}", params=[lines, types, longest])
            relation.write_parquet(target, compression="zstd")


# The text of a message ----------------------------------------------------------------------------------------------


def message_text(message: Message) -> str | None:
    """The text blocks of a message and of the results in it, as in the column `text` of `bough_messages`."""
    texts = [text for block in message.blocks if isinstance(block, (Text, ToolResult)) for text in texts_of(block)]
    return "\n".join(texts) if texts else None


def block_text(message: Message, position: int) -> str | None:
    """The text, the arguments or the result of one block."""
    texts = [text for block in message.blocks[position : position + 1] for text in texts_of(block)]
    return "\n".join(texts) if texts and position >= 0 else None


def texts_of(block: Block) -> list[str]:
    match block:
        case Text() | Thinking():
            return [block.text]
        case ToolCall():
            return [block.arguments]
        case ToolResult():
            return [part.text for part in block.content if isinstance(part, Text)]
    return []
