"""`bough restore`: what is in the trash comes back."""

from __future__ import annotations

import json

from tests.cli.bough_process import Shell
from tests.cli.history import stored_ids


def test_a_deleted_subtree_is_restored_by_the_named_command(kept: Shell, ids: dict[str, str]) -> None:
    before = stored_ids(kept)
    done = kept("conversation", "delete", "--cascade", ids["metres"])
    assert done.status == 0
    assert f"bough restore {ids['metres']}" in done.out
    assert "Also deleted: 4 descendants." in done.out
    assert len(before - stored_ids(kept)) == 5
    listed = kept("restore")
    assert ids["metres"] in listed.out
    assert "bough restore NAME" in listed.err
    (entry,) = json.loads(kept("restore", "--json").out)
    assert entry["messages"] == 5
    assert kept("convo", "restore", ids["metres"]).out == f"Restored {ids['metres']}: 5 messages.\n"
    assert stored_ids(kept) == before


def test_entries_are_restored_by_id_prefix_or_short_name(kept: Shell, ids: dict[str, str]) -> None:
    kept("delete", ids["loose"])
    kept("delete", "notes")
    done = kept("restore", ids["loose"][:5], "notes", "nowhere")
    assert done.status == 3
    assert done.out == f"Restored {ids['loose'][:5]}: 1 message.\nRestored notes: 2 messages.\n"
    assert done.err == "bough: Nothing in the trash is called 'nowhere'. `bough restore` lists the trash.\n"


def test_an_error_says_what_to_restore_first_and_what_was_not_deleted(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("delete", ids["five"]).status == 0
    assert kept("delete", ids["birch"]).status == 0
    done = kept("restore", ids["five"])
    newest = json.loads(kept("restore", "--json").out)[0]["name"]
    assert done.status == 5
    assert f"is in the trash too, in {newest!r}; restore that first" in done.err
    assert "was not deleted" in kept("restore", ids["oaks"]).err
    assert "`bough restore` lists the trash" in kept("restore", "zzzzzz").err
