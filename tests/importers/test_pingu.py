"""Pingu: whole replies in both formats, and delegates."""

from __future__ import annotations

from pathlib import Path

from bough import Other, Store, Text, Thinking, ToolCall, Usage
from tests.importers.helpers import import_sample
from tests.importers.samples.pingu import CHAT, CHILD


def test_pingu_keeps_whole_replies_and_knows_who_delegated(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "pingu", "both dialects")
    older, newer = messages["Hi."].message, messages["Up for 3 days."].message
    assert isinstance(older.blocks[0], Thinking)
    assert older.blocks[0].raw["openai.responses"]["encrypted_content"] == "sealed"
    assert [type(block) for block in newer.blocks] == [Thinking, Text, ToolCall, Other]
    child = store.session(CHILD).info
    assert (child.parent_key, child.agent) == (CHAT, "sysinfo")
    assert store.session(CHAT).info.extra["summary"] == "small talk"
    first = store.turns(CHAT)[-1]
    assert (first.usage, first.model) == (Usage(10, 4, None, 1), "gpt-x")
    assert [turn.status for turn in store.turns(CHAT)] == ["complete", "interrupted", "complete"]
