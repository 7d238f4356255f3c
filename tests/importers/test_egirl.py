"""egirl: images, calls and summaries."""

from __future__ import annotations

from pathlib import Path

from bough import Media, Store, ToolResult
from tests.importers.helpers import import_sample


def test_egirl_keeps_pictures_calls_and_summaries(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "egirl", "search tables")
    asked, called, answered, _ = store.session("cli:default").path()
    assert isinstance(asked.message.blocks[1], Media)
    assert called.message.calls[0].input == {"at": "it"}
    assert isinstance(answered.message.blocks[0], ToolResult)
    assert store.session("cli:default").info.extra["summary"] == "so far: trees"
    assert messages["A tree."].created_at // 1000 == 1_770_000_000_123
