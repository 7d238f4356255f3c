"""orcx: totals, title and agent."""

from __future__ import annotations

from pathlib import Path

from bough import Store
from tests.importers.helpers import import_sample


def test_orcx_keeps_totals_title_and_agent(store: Store, tmp_path: Path) -> None:
    import_sample(store, tmp_path, "orcx", "four letters")
    info = store.session("orcx:a1b2").info
    assert (info.title, info.agent, info.model) == ("explain this...", "fast", "deepseek/chat")
    assert (info.extra["total_tokens"], info.extra["total_cost"]) == (20, 0.01)
    assert info.updated_at == 1_772_359_200_123_456
