"""Turns of Pingu in both formats, with delegates and damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, database, insert

SCHEMA = """CREATE TABLE sessions (id TEXT PRIMARY KEY, channel TEXT NOT NULL DEFAULT 'cli', channel_id TEXT,
    title TEXT, model TEXT, summary TEXT, summary_up_to TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_calls TEXT,
    tool_call_id TEXT, name TEXT, model TEXT, created_at TEXT NOT NULL);
CREATE TABLE turns (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, user_message TEXT NOT NULL,
    response_json TEXT NOT NULL, model TEXT, created_at TEXT NOT NULL);
CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL);"""
TIME = "2026-03-01 10:00:00"
CHAT, CHILD = "telegram:648079060", "telegram:648079060:delegate:sysinfo"


def session(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "channel": "default", "created_at": TIME, "updated_at": TIME, **more}


def turn(session: str, asked: str, reply: Any) -> dict[str, Any]:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return {"session_id": session, "user_message": asked, "response_json": text, "model": "gpt-x", "created_at": TIME}


def response(text: str, *items: dict[str, Any]) -> dict[str, Any]:
    said = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 1}}
    return {"id": "resp_1", "object": "response", "model": "gpt-x", "status": "completed", "output": [*items, said],
            "usage": usage}  # fmt: skip


REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed"}
NEWER = {"model": "gpt-y", "input_tokens": 5, "output_tokens": 2, "output": [
    {"type": "reasoning", "raw": REASONING}, {"type": "message", "content": "Up for 3 days."},
    {"type": "function_call", "call_id": "c1", "name": "message", "arguments": "{}"}, {"type": "mystery"}]}  # fmt: skip


def make(directory: Path) -> Path:
    return database(directory / "pingu.db", SCHEMA,
                    sessions=[session(CHILD), session(CHAT, summary="small talk", summary_up_to="1")],
                    turns=[turn(CHAT, "hello", response("Hi.", REASONING)), turn(CHAT, "broken", "{torn"),
                           turn(CHAT, "again", response("Back.")), turn(CHILD, "uptime?", NEWER)])  # fmt: skip


def with_messages(directory: Path) -> Path:
    def row(id: str, role: str, **more: Any) -> dict[str, Any]:
        return {"id": id, "session_id": "cli:x", "role": role, "created_at": TIME, **more}

    calls = json.dumps([{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}])
    return database(directory / "pingu.db", SCHEMA, sessions=[session("cli:x")], messages=[
        row("m1", "user", content="list"), row("m2", "assistant", tool_calls=calls),
        row("m3", "tool", content="a b", tool_call_id="c1", name="ls"), row("m4", "assistant", content="Two files."),
        row("m5", "walrus", content="?")])  # fmt: skip


SAMPLES = [
    Sample(
        "pingu", "both dialects, a delegate, a reply that is torn", make, 2, 7, skipped=("turns 2",),
        edges={"Hi.": "hello", "broken": "Hi.", "again": "broken", "Up for 3 days.": "uptime?"},
        sessions={CHAT: "Back.", CHILD: "Up for 3 days."},
        grow=lambda path: insert(path, "turns", turn(CHAT, "more", response("Sure."))), grown=2,
    ),
    Sample("pingu", "the table of messages", with_messages, 1, 4, skipped=("messages m5",),
           edges={"Two files.": "", "list": None}, sessions={"cli:x": "Two files."}),
]  # fmt: skip
