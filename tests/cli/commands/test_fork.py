"""`bough fork`: a new session at any message."""

from __future__ import annotations

import json

from tests.cli.bough_process import Shell


def test_a_fork_is_a_new_session_at_any_message(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("fork", ids["metres"], "--session", "shorter", "--title", "Plan B")
    assert done.out == "cli:shorter\n"
    assert f"Its head is {ids['metres']}" in done.err
    assert kept("title", "shorter").out == "Plan B\n"
    made = json.loads(kept("fork", "cli:garden", "--json").out)
    assert made["at"] == ids["hornbeam"]
    assert made["session"].startswith("cli:fork:")
    taken = kept("fork", ids["metres"], "--session", "shorter")
    assert taken.status == 6
    assert "already" in taken.err
    assert kept("fork", "nnnnnn").status == 3
