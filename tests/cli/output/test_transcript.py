"""Transcripts: thinking and tool results folded, Markdown rendered on a terminal."""

from __future__ import annotations

from tests.cli.bough_process import Shell
from tests.cli.terminal import seen


def test_thinking_and_long_results_are_folded_until_asked_for(kept: Shell, ids: dict[str, str]) -> None:
    folded = kept("show", "cli:garden").out
    assert "A crown is 20 m." not in folded
    assert "thought for 16 characters (--thinking shows it)" in folded
    assert '→ read_file({"path": "plan"})' in folded
    assert "✓ read_file" in folded
    assert "28 more lines (--tools shows them)" in folded
    assert "claude-x · 2,210 → 180 tokens · $0.0093" in folded
    assert "#decision" in folded
    whole = kept("show", ids["metres"], "--thinking", "--tools").out
    assert "A crown is 20 m." in whole
    assert "oak at 468 m" in whole


def test_markdown_is_rendered_and_matches_are_set_off(kept: Shell, ids: dict[str, str]) -> None:
    rendered = seen(kept, "show", ids["metres"], "-n", "1")
    assert "**" not in rendered
    assert "crowns" in rendered
    assert "**crowns**" in seen(kept, "show", ids["metres"], "-n", "1", NO_COLOR="1")
    assert "\x1b[1;33moak\x1b[0m" in seen(kept, "search", "oak")
