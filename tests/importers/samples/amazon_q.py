"""Amazon Q's states: pairs and entries, tangents, checkpoints, compaction, and the secrets beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, database

SCHEMA = """CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);"""
KIRO = (
    SCHEMA
    + """CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));"""
)
SECRET = {"key": "codewhisperer:odic:token", "value": "do-not-read-me"}
ENV = {"env_state": {"operating_system": "linux", "current_working_directory": "/work", "environment_variables": []}}


def asked(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"additional_context": "", "env_context": ENV, "content": content, "timestamp": None, "images": None, **more}


def prompt(text: str, **more: Any) -> dict[str, Any]:
    return asked({"Prompt": {"prompt": text}}, timestamp="2025-09-01T10:00:00.123456-07:00", **more)


def reply(text: str, id: str | None = None) -> dict[str, Any]:
    return {"Response": {"message_id": id, "content": text}}


def about(id: str) -> dict[str, Any]:
    return {"request_id": f"req-{id}", "message_id": id, "request_start_timestamp_ms": 1_756_746_000_200,
            "stream_end_timestamp_ms": 1_756_746_001_300, "model_id": "claude-q", "message_meta_tags": []}  # fmt: skip


def entry(asked: dict[str, Any], answer: dict[str, Any], id: str) -> dict[str, Any]:
    return {"user": asked, "assistant": answer, "request_metadata": about(id)}


def said(number: int, question: str, answer: str) -> dict[str, Any]:
    return entry(prompt(question), reply(answer, f"id-{number}"), f"id-{number}")


CALLED = entry(
    prompt("list it", images=[{"format": "Png", "source": {"Bytes": [137, 80, 78, 71]}}]),
    {"ToolUse": {"message_id": "id-9", "content": "I will.", "tool_uses": [
        {"id": "t1", "name": "dummy", "orig_name": "fs_read", "args": {}, "orig_args": {"path": "."}}]}}, "id-9",
)  # fmt: skip
ANSWERED = entry(asked({"ToolUseResults": {"tool_use_results": [
    {"tool_use_id": "t1", "content": [{"Text": "a.py"}, {"Json": {"n": 1}}], "status": "Success"}]}}),
    reply("One file.", "id-10"), "id-10")  # fmt: skip
CANCELLED = entry(asked({"CancelledToolUses": {"prompt": "never mind", "tool_use_results": [
    {"tool_use_id": "t1", "content": [{"Text": "Tool use was cancelled by the user"}], "status": "Error"}]}}),
    reply("Fine.", "id-11"), "id-11")  # fmt: skip


def state(history: Any, id: str = "11111111-0000-4000-8000-000000000000", **more: Any) -> dict[str, Any]:
    return {"conversation_id": id, "next_message": None, "history": history, "valid_history_range": [0, 1],
            "transcript": ["> hi"], "tools": {}, "context_manager": {"current_profile": "q_cli_default"},
            "latest_summary": None, "model_info": {"model_id": "claude-q"}, **more}  # fmt: skip


def file(*states: Any, schema: str = SCHEMA, **tables: list[dict[str, Any]]) -> Callable[[Path], Path]:
    def make(directory: Path) -> Path:
        rows = [{"key": f"/work/{number}", "value": one if isinstance(one, str) else json.dumps(one)}
                for number, one in enumerate(states)]  # fmt: skip
        return database(directory / "data.sqlite3", schema, auth_kv=[SECRET], conversations=rows, **tables)

    return make


def saved(value: Any) -> Callable[[Path], Path]:
    def make(directory: Path) -> Path:
        path = directory / "chat.json"
        path.write_text(json.dumps(value, indent=2))
        return path

    return make


ONE, TWO, ASIDE = said(1, "hi", "hello"), said(2, "and", "so on"), said(3, "aside", "indeed")
TRIED = said(4, "try this", "tried")
KEY = "amazon-q:11111111-0000-4000-8000-000000000000"
CHECKPOINTS = {"shadow_repo_path": "/x", "checkpoints": [
    {"tag": "1", "description": "hi", "history_snapshot": [ONE], "is_turn": True},
    {"tag": "2", "description": "before going back", "history_snapshot": [ONE, TRIED], "is_turn": True}]}  # fmt: skip
OTHER = "22222222-0000-4000-8000-000000000000"

SAMPLES = [
    Sample(
        "amazon-q", "pairs, as the first versions wrote them, and a value that is torn",
        file(state([[prompt("hi"), reply("hello", "p1")], [prompt("and"), reply("so on")]], latest_summary=None),
             '{"conversation_id": "x", "his', {"no": "conversation"}),
        1, 4, skipped=("/work/1", "/work/2"), edges={"hello": "hi", "and": "hello", "so on": "and"},
        sessions={KEY: "so on"},
    ),
    Sample(
        "amazon-q", "entries with tools, pictures, renamed and cancelled calls, and an entry that is none",
        file(state([CALLED, ANSWERED, CALLED | {"request_metadata": about("id-12"), "assistant": {
            "ToolUse": {"message_id": "id-12", "content": "Again.", "tool_uses": []}}}, CANCELLED, ["odd"]])),
        1, 10, skipped=("history[4]",), edges={"I will.": "list it", "One file.": "", "Fine.": "never mind"},
    ),
    Sample(
        "amazon-q", "a tangent: the main line is beside the history",
        file(state([ONE, ASIDE], tangent_state={"main_history": [ONE, TWO], "main_next_message": None})),
        1, 6, edges={"and": "hello", "aside": "hello"}, sessions={KEY: "so on", f"{KEY}:tangent": "indeed"},
    ),
    Sample(
        "amazon-q", "checkpoints: one of them was gone back from",
        file(state([ONE, TWO], checkpoint_manager=CHECKPOINTS)),
        1, 6, edges={"try this": "hello", "and": "hello"},
        sessions={KEY: "so on", f"{KEY}:checkpoint:2": "tried"},
    ),
    Sample(
        "amazon-q", "a summary for what compaction took away, and a question that waits",
        file(state([TWO], latest_summary=["we said hi", about("s")], next_message=prompt("still there?"))),
        1, 4, edges={"we said hi": None, "and": "we said hi", "still there?": "so on"}, sessions={KEY: "so on"},
    ),
    Sample(
        "amazon-q", "Kiro's second table, and copies in the first",
        file(state([ONE], OTHER), schema=KIRO, conversations_v2=[
            {"key": "/work/0", "conversation_id": OTHER, "value": json.dumps(state([ONE, TWO], OTHER)),
             "created_at": 1_756_746_000_000, "updated_at": 1_756_746_009_000}]),
        1, 4, edges={"so on": "and"}, sessions={f"amazon-q:{OTHER}": "so on"},
    ),
    Sample(
        "amazon-q", "what /save writes", saved(state([ONE])), 1, 2, edges={"hello": "hi"}, sessions={KEY: "hello"},
        grow=lambda path: path.write_text(json.dumps(state([ONE, TWO]))), grown=2,
    ),
]  # fmt: skip
