"""Rows of orcx: conversations as JSON, some of them damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, database, opened

SCHEMA = """CREATE TABLE conversations (id TEXT PRIMARY KEY, model TEXT NOT NULL, agent TEXT, title TEXT,
    messages TEXT NOT NULL, total_tokens INTEGER DEFAULT 0, total_cost REAL DEFAULT 0.0, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL); CREATE INDEX idx_updated ON conversations(updated_at DESC);"""
CHAT = [{"role": "user", "content": "explain this"}, {"role": "assistant", "content": "It sorts."}]
MORE = [*CHAT, {"role": "user", "content": "how fast"}, {"role": "assistant", "content": "n log n"}]


def row(id: str, messages: Any, **more: Any) -> dict[str, Any]:
    time = "2026-03-01T10:00:00.123456+00:00"
    return {"id": id, "model": "deepseek/chat", "title": "explain this...", "messages": messages, "created_at": time,
            "updated_at": time, **more}  # fmt: skip


def make(directory: Path) -> Path:
    return database(directory / "conversations.db", SCHEMA, conversations=[
        row("a1b2", json.dumps(CHAT), agent="fast", total_tokens=20, total_cost=0.01),
        row("zzzz", "[{torn"), row("yyyy", '{"role": "user"}'),
        row("c3d4", json.dumps([*CHAT, {"role": "critic", "content": "hm"}, {"role": "user"}])),
    ])  # fmt: skip


def grow(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("UPDATE conversations SET messages = ? WHERE id = 'a1b2'", (json.dumps(MORE),))


SAMPLES = [
    Sample(
        "orcx", "four letters, no times, and rows that are no JSON", make, 2, 5,
        skipped=("zzzz", "yyyy", "c3d4 message 2", "c3d4 message 3"),
        edges={"It sorts.": "explain this", "hm": "It sorts."},
        sessions={"orcx:a1b2": "It sorts.", "orcx:c3d4": "hm"}, grow=grow, grown=2,
    ),
]  # fmt: skip
