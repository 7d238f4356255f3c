"""Rows of egirl: JSON inside JSON, arguments that are objects, one time for all messages of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, database, insert

BEFORE = """CREATE TABLE sessions (id TEXT PRIMARY KEY, channel TEXT NOT NULL, created_at INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL, tool_calls TEXT, tool_call_id TEXT, created_at INTEGER NOT NULL);"""
LATER = BEFORE.replace("last_active_at INTEGER NOT NULL", "last_active_at INTEGER NOT NULL, summary TEXT") + """
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='messages', content_rowid='id');"""  # fmt: skip
T = 1_770_000_000_123


def session(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "channel": id.partition(":")[0], "created_at": T, "last_active_at": T + 5, **more}


def said(session: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "role": role, "content": json.dumps(content), "created_at": T, **more}


RUN = [
    said("cli:default", "user", [{"type": "text", "text": "what is this"}, {"type": "image_url", "image_url": {
        "url": "data:image/png;base64,iVBORw0KGgo="}}]),
    said("cli:default", "assistant", "let me look", tool_calls=json.dumps([
        {"id": "c1", "name": "look", "arguments": {"at": "it"}}])),
    said("cli:default", "tool", "a tree", tool_call_id="c1"),
    said("cli:default", "assistant", "A tree."),
]  # fmt: skip


def later(directory: Path) -> Path:
    return database(directory / "conversations.db", LATER,
                    sessions=[session("cli:default", summary="so far: trees"), session("discord:dm:42"),
                              session("0d9f5c1e-aaaa-bbbb-cccc-000000000000"), session("cli:empty")],
                    messages=[*RUN, said("discord:dm:42", "user", "hey"),
                              {**said("discord:dm:42", "assistant", ""), "content": "not JSON"},
                              said("discord:dm:42", "narrator", "odd"), said("discord:dm:42", "assistant", "yo"),
                              said("0d9f5c1e-aaaa-bbbb-cccc-000000000000", "user", "once"),
                              said("0d9f5c1e-aaaa-bbbb-cccc-000000000000", "assistant", "and done")])  # fmt: skip


def before(directory: Path) -> Path:
    return database(directory / "conversations.db", BEFORE, sessions=[session("cli:default")], messages=RUN)


def grow(path: Path) -> None:
    insert(path, "messages", said("cli:default", "user", "big?"), said("cli:default", "assistant", "Huge."))


SAMPLES = [
    Sample("egirl", "before there were summaries", before, 1, 4, edges={"A tree.": ""},
           sessions={"cli:default": "A tree."}, grow=grow, grown=2),
    Sample(
        "egirl", "summaries, search tables, rows that cannot be read and keys without a channel", later, 3, 8,
        skipped=("messages 6", "messages 7"), edges={"yo": "hey", "and done": "once"},
        sessions={"cli:default": "A tree.", "discord:dm:42": "yo",
                  "egirl:0d9f5c1e-aaaa-bbbb-cccc-000000000000": "and done"},
        grow=grow, grown=2,
    ),
]  # fmt: skip
