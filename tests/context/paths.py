"""Paths and payloads for the tests of context/."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bough import (
    Message,
    Node,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    formats,
    user,
)
from bough.model.tokens import estimate
from tests.formats.format_dialogs import said
from tests.formats.format_dialogs import texts as some_texts

WIRES = [name for name in formats.names() if name != "bough.jsonl"]


def nodes_of(turns: list[list[Message]]) -> list[Node]:
    """A path of these turns, as a store would give it."""
    path: list[Node] = []
    weight = 0
    for number, turn in enumerate(turns):
        for place, message in enumerate(turn):
            weight += estimate(message)
            parent = path[-1].id if path else None
            path.append(Node(f"{number}.{place}", parent, len(path), message, turn_id=f"{number}.0", weight=weight))
    return path


def exchange(number: int, size: int = 100) -> list[Message]:
    return [user(f"question {number} " + "x " * size), assistant(f"answer {number} " + "y " * size)]


def wire_list(payload: Any) -> list[Any]:
    """The payload as a list, oldest first; Q Developer's has the current message apart."""
    if isinstance(payload, dict):
        return [*payload.get("history", []), payload.get("currentMessage")]
    return list(payload)


ids = st.sampled_from(["c1", "c2", "c3", "c4"])
results = st.builds(ToolResult, ids, st.just((Text("result"),)), st.booleans())
broken_messages = st.one_of(
    st.builds(lambda blocks: Message("user", tuple(blocks)), st.lists(some_texts, max_size=2)),
    st.builds(lambda blocks: Message("assistant", tuple(blocks)),
              st.lists(st.one_of(said, st.builds(ToolCall, ids, st.just("look"), st.just("{}"))), max_size=4)),
    st.builds(lambda blocks: Message("tool_result", tuple(blocks)), st.lists(results, max_size=3)),
    st.just(Message("system", (Text("a note"),))),
)  # fmt: skip
histories = st.lists(st.lists(broken_messages, min_size=1, max_size=6), min_size=1, max_size=6)
