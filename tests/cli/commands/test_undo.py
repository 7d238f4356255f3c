"""`bough undo`, `labels` and `pin`: what the store remembers, from the terminal."""

from __future__ import annotations

import json

from bough.cli.exits import STATUSES
from tests.cli.bough_process import Shell
from tests.cli.history import stored_ids


def test_the_last_change_is_undone_and_changes_are_listed(kept: Shell, ids: dict[str, str]) -> None:
    before = stored_ids(kept)
    assert kept("delete", "garden").status == 0
    assert kept("title", "birches", "Birches").status == 0
    rows = json.loads(kept("undo", "--list", "--json").out)
    assert [row["verb"] for row in rows][:2] == ["title", "delete"]
    assert str(rows[1]["number"]) in kept("undo", "--list").out
    assert kept("undo").out.startswith("Undone: ")
    assert stored_ids(kept) != before
    assert kept("undo", str(rows[1]["number"])).status == 0
    assert stored_ids(kept) == before
    assert kept("undo", "999999").status == STATUSES["not_found"]
    assert "nothing to undo" in kept("undo", "--session", "telegram:42").err


def test_labels_are_counted(kept: Shell) -> None:
    assert kept("labels").out == "MESSAGES  LABEL\n       1  decision\n"
    assert json.loads(kept("labels", "--json").out) == [{"label": "decision", "messages": 1}]
    assert "subagent:reviewer" in kept("labels", "--subagents").out


def test_sessions_and_messages_are_pinned_and_unpinned(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("pin").err == "Nothing is pinned. To pin something: bough pin ID\n"
    assert kept("pin", "garden", "nnnnnn").status == STATUSES["not_found"]
    assert json.loads(kept("pin", "--json").out) == []
    assert kept("pin", "garden", ids["five"]).status == 0
    rows = json.loads(kept("pin", "--json").out)
    assert {row["id"] for row in rows} == {"cli:garden", ids["five"]}
    assert "Planting oaks" in kept("pin").out
    assert kept("pin", "garden", "--remove").out == "cli:garden is not pinned any more.\n"
    assert len(json.loads(kept("pin", "--json").out)) == 1
