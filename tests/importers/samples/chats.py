"""Chats as the messages of a request, in every common file layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.importers.sample import Sample, chop

ASKED = {"role": "user", "content": "What is a bough?"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "bough"}'}}]}  # fmt: skip
LOOKED_UP = {"role": "tool", "tool_call_id": "c1", "content": "a main branch"}
REPLIED = {"role": "assistant", "content": "A main branch of a tree."}
MORE = [{"role": "user", "content": "And a twig?"}, {"role": "assistant", "content": "A small one."}]
CHAT = [ASKED, CALLED, LOOKED_UP, REPLIED]
OTHER = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def file(name: str, text: str | bytes) -> Callable[[Path], Path]:
    def make(directory: Path) -> Path:
        path = directory / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


def jsonl(*chats: Any) -> str:
    return "".join(json.dumps(chat) + "\n" for chat in chats)


def append(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(path.read_bytes() + text.encode())


EDGES = {"What is a bough?": None, "A main branch of a tree.": ""}

SAMPLES = [
    Sample(
        "chats", "one object",
        file("chat.json", json.dumps({"model": "m", "messages": CHAT}, indent=1)), 1, 4, edges=EDGES,
        grow=lambda path: path.write_text(json.dumps({"model": "m", "messages": CHAT + MORE}, indent=1)), grown=2,
    ),
    Sample("chats", "a list of messages", file("messages.json", json.dumps(CHAT)), 1, 4, edges=EDGES),
    Sample(
        "chats", "a list of conversations",
        file("chats.json", json.dumps([{"messages": CHAT}, {"messages": OTHER}])), 2, 6, edges=EDGES,
        tear=chop,
    ),
    Sample(
        "chats", "one conversation a line, some of them no conversation",
        file("chats.jsonl", jsonl({"messages": CHAT}, {"no": "messages"}) + "{torn\n" + jsonl({"messages": OTHER})),
        2, 6, skipped=(":2", ":3"), edges={**EDGES, "hello": "hi"},
        grow=append(jsonl({"messages": CHAT + MORE})), grown=2, tear=chop,
    ),
    Sample(
        "chats", "a log in which every request repeats the dialog so far",
        file("log.jsonl", jsonl({"messages": CHAT}, {"messages": CHAT + MORE})), 1, 6, edges=EDGES,
    ),
    Sample(
        "chats", "UTF-16 with a byte order mark",
        file("chat.jsonl", jsonl({"messages": CHAT}).encode("utf-16")), 1, 4, edges=EDGES,
    ),
    Sample(
        "chats", "UTF-8 with a byte order mark",
        file("chat.jsonl", b"\xef\xbb\xbf" + jsonl({"messages": CHAT}).encode()), 1, 4, edges=EDGES,
    ),
]  # fmt: skip
