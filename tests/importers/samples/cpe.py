"""`.cpeconvo` of every generation, created with CPE's own statements."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, database, insert

G0 = """CREATE TABLE conversations (id TEXT PRIMARY KEY, parent_id TEXT, user_message TEXT NOT NULL,
    executor_data BLOB NOT NULL, created_at TIMESTAMP NOT NULL, model TEXT NOT NULL);"""
BLOCKS = """CREATE TABLE blocks (id TEXT, message_id TEXT NOT NULL, block_type TEXT NOT NULL,
    modality_type INTEGER NOT NULL, mime_type TEXT NOT NULL, content TEXT NOT NULL, extra_fields TEXT,
    sequence_order INTEGER NOT NULL, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (message_id, sequence_order));"""
BLOCKS_BEFORE = BLOCKS.replace("extra_fields TEXT,", "").replace("id TEXT,", "id TEXT PRIMARY KEY,").replace(
    ",\n    PRIMARY KEY (message_id, sequence_order)", "")  # fmt: skip


def messages(*columns: str) -> str:
    more = "".join(f"{column}, " for column in columns)
    return f"""CREATE TABLE messages (id TEXT PRIMARY KEY, parent_id TEXT, {more} role TEXT NOT NULL,
        tool_result_error BOOLEAN NOT NULL DEFAULT 0, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);"""


TITLE, SUBAGENT, COMPACTED = "title TEXT", "is_subagent BOOLEAN NOT NULL DEFAULT 0", "compaction_parent_id TEXT"
COUNTS = (
    "message_extra_fields TEXT", "model_ref TEXT", "model_id TEXT", "model_type TEXT", "model_display_name TEXT",
    "input_tokens INTEGER", "output_tokens INTEGER", "cache_read_tokens INTEGER", "cache_write_tokens INTEGER",
)  # fmt: skip
SESSIONS = """CREATE TABLE acp_sessions (id TEXT PRIMARY KEY, last_message_id TEXT, cwd TEXT NOT NULL,
    title TEXT NOT NULL, model_ref TEXT NOT NULL, thinking_level TEXT NOT NULL DEFAULT '',
    cost_usd REAL NOT NULL DEFAULT 0, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);"""
TIME = "2026-03-01 10:00:00"
"""One time for all messages: CPE stores seconds."""


def message(id: str, parent: str | None, role: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "parent_id": parent, "role": role, "created_at": TIME, **more}


def block(message: str, content: str, order: int = 0, kind: str = "content", **more: Any) -> dict[str, Any]:
    return {"message_id": message, "block_type": kind, "modality_type": 0, "mime_type": "text/plain",
            "content": content, "sequence_order": order, **more}  # fmt: skip


def file(schema: str, *rows: tuple[str, dict[str, Any]]) -> Callable[[Path], Path]:
    def make(directory: Path) -> Path:
        tables: dict[str, list[dict[str, Any]]] = {}
        for table, row in rows:
            tables.setdefault(table, []).append(row)
        return database(directory / ".cpeconvo", schema, **tables)

    return make


def said(id: str, parent: str | None, role: str, text: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("messages", message(id, parent, role, **more)), ("blocks", block(id, text))]


CALL = json.dumps({"name": "ls", "parameters": {"path": "<root>"}}).replace("<", "\\u003c")
WITH_TOOLS = [
    *said("aaaaa1", None, "user", "look around"),
    ("messages", message("aaaaa2", "aaaaa1", "assistant")),
    ("blocks", block("aaaaa2", "hm", 0, "thinking", mime_type="", extra_fields=json.dumps(
        {"thinking_generator": "anthropic", "anthropic_thinking_signature": "sig"}))),
    ("blocks", block("aaaaa2", "sealed", 1, "redacted_thinking")),
    ("blocks", block("aaaaa2", CALL, 2, "tool_call", id="toolcall-1")),
    ("blocks", block("aaaaa2", CALL, 3, "tool_call", id="toolcall-2")),
    ("messages", message("aaaaa3", "aaaaa2", "tool_result", tool_result_error=1)),
    ("blocks", block("aaaaa3", "no such place", 0, id="toolcall-1")),
    ("blocks", block("aaaaa3", base64.b64encode(b"\x89PNG").decode(), 1, id="toolcall-2", modality_type=1,
                     mime_type="image/png")),
    *said("-_aaa4", "aaaaa3", "assistant", "nothing there"),
    *said("aaaaa5", "aaaaa1", "assistant", "another try"),
]  # fmt: skip


def go_on(path: Path) -> None:
    for table, row in (*said("aaaaa6", "aaaaa5", "user", "go on"), *said("aaaaa7", "aaaaa6", "assistant", "done")):
        insert(path, table, row)


SAMPLES = [
    Sample(
        "cpe", "prompts beside replies that only Go can read",
        file(G0, *(("conversations", {"id": id, "parent_id": parent, "user_message": text, "executor_data": b"\x0a\xff",
                                      "created_at": TIME, "model": "m"})
                   for id, parent, text in (("a", None, "first"), ("b", "a", "second"), ("c", "a", "instead")))),
        1, 6, skipped=("conversations a", "conversations b", "conversations c"),
        edges={"first": None, "second": "", "instead": ""},
    ),
    Sample(
        "cpe", "blocks with ids of their own, before there were extra fields",
        file(messages(TITLE) + BLOCKS_BEFORE, ("messages", message("a1", None, "user")),
             ("blocks", {**block("a1", "hi"), "id": "b1"}), ("messages", message("a2", "a1", "assistant")),
             ("blocks", {**block("a2", "hello"), "id": "b2"})),
        1, 2, edges={"hello": "hi"},
    ),
    Sample(
        "cpe", "titles, tools, a retry and a subagent's trace",
        file(messages(TITLE) + BLOCKS, *WITH_TOOLS,
             *said("bbbbb1", None, "user", "sub task", title="subagent:review:r1"),
             *said("bbbbb2", "bbbbb1", "assistant", "sub answer", title="subagent:review:r1")),
        2, 7, edges={"nothing there": "", "another try": "look around", "sub answer": "sub task"},
        sessions={"cpe:aaaaa1": "another try", "cpe:bbbbb1": "sub answer"},
        grow=go_on,
        grown=2,
    ),
    Sample(
        "cpe", "a flag for subagents, and a conversation that was compacted",
        file(messages(TITLE, SUBAGENT, COMPACTED) + BLOCKS,
             *said("aaaaa1", None, "user", "long story"), *said("aaaaa2", "aaaaa1", "assistant", "compacting"),
             *said("aaaaa3", None, "user", "in short", compaction_parent_id="aaaaa2"),
             *said("aaaaa4", "aaaaa3", "assistant", "and on"),
             *said("ccccc1", None, "user", "trace", is_subagent=1)),
        2, 5, edges={"in short": "compacting", "and on": "in short"}, sessions={"cpe:aaaaa1": "and on"},
    ),
    Sample(
        "cpe", "no flag any more, a compacted ancestor that is gone, and an unknown role",
        file(messages(COMPACTED) + BLOCKS, *said("aaaaa3", None, "user", "in short", compaction_parent_id="gone"),
             *said("aaaaa4", "aaaaa3", "assistant", "and on"), *said("aaaaa5", "aaaaa4", "narrator", "meanwhile")),
        1, 2, skipped=("messages aaaaa5",), edges={"in short": None, "and on": "in short"},
    ),
    Sample(
        "cpe", "models and tokens on messages",
        file(messages(COMPACTED, *COUNTS) + BLOCKS, *said("aaaaa1", None, "user", "how much"),
             *said("aaaaa2", "aaaaa1", "assistant", "so much", model_id="claude-x", model_type="anthropic",
                   input_tokens=10, output_tokens=3, cache_read_tokens=7,
                   message_extra_fields='{"responses_phase": "final_answer"}')),
        1, 2, edges={"so much": "how much"},
    ),
    Sample(
        "cpe", "sessions, a fork, and what a crash has left behind",
        file(messages(COMPACTED, *COUNTS) + BLOCKS + SESSIONS,
             *said("aaaaa1", None, "user", "one"), *said("aaaaa2", "aaaaa1", "assistant", "two"),
             *said("aaaaa3", "aaaaa2", "user", "left"), *said("aaaaa4", "aaaaa3", "assistant", "left reply"),
             *said("aaaaa5", "aaaaa2", "user", "right"), *said("aaaaa6", "aaaaa5", "assistant", "right reply"),
             *said("aaaaa7", "aaaaa6", "user", "never answered"), *said("ddddd1", None, "user", "orphan"),
             *said("ddddd2", "ddddd1", "assistant", "orphaned reply"),
             *(("acp_sessions", {"id": id, "last_message_id": last, "cwd": "/work", "title": title,
                                 "model_ref": "sonnet", "cost_usd": 0.5, "created_at": TIME})
               for id, last, title in (("sess01", "aaaaa4", "Left"), ("sess02", "aaaaa6", "Right")))),
        2, 9, edges={"left": "two", "right": "two", "never answered": "right reply"},
        sessions={"cpe:sess01": "left reply", "cpe:sess02": "right reply", "cpe:ddddd1": "orphaned reply"},
    ),
]  # fmt: skip
