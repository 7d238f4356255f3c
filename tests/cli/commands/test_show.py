"""`bough show`: the dialog that leads to a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bough
from bough import Save, assistant, user
from tests.cli.bough_process import Shell


@pytest.mark.parametrize("words", [("show",), ("conversation", "print"), ("convo", "view"), ("conversations", "show")])
def test_show_has_aliases(kept: Shell, ids: dict[str, str], words: tuple[str, ...]) -> None:
    done = kept(*words, ids["hornbeam"])
    assert (done.status, done.err) == (0, "")
    assert [line.split(" ·")[0] for line in done.out.splitlines() if " · " in line] == [
        f"USER {ids['oaks']}", f"ASSISTANT {ids['call']}", f"TOOL RESULT {ids['result']}",
        f"ASSISTANT {ids['metres']}", f"USER {ids['ash']}", f"ASSISTANT {ids['hornbeam']}",
    ]  # fmt: skip


def test_the_end_of_a_dialog_and_the_last_one(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("show", "garden", "-n", "1").out.splitlines()[-1] == "Take hornbeam."
    assert len(json.loads(kept("show", "cli:garden", "--last", "2", "--json").out)["messages"]) == 2
    newest = json.loads(kept("show", "telegram:42", "--json").out)
    assert newest["id"] == ids["fine"]
    assert newest["messages"][-1]["text"] == "A fine oak."
    assert newest["messages"][-2]["blocks"][1]["name"] == "oak.png"


def test_unknown_and_ambiguous_ids_are_different_errors(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        lone, *many = store.save_messages([Save(user("x")) for _ in range(3)])
        for id, new in zip(many, ("twin01", "twin02"), strict=True):
            store.db._use().execute("UPDATE messages SET id = ? WHERE id = ?", (new, id))  # type: ignore[attr-defined]
    assert sh("show", lone[:4]).status == 0
    none, twins = sh("show", "nnnnnn"), sh("show", "twin")
    assert (none.status, none.out) == (3, "")
    assert none.err == "bough: Conversation not found: no message and no session is called 'nnnnnn'.\n"
    assert twins.status == 4
    assert "'twin01', 'twin02'" in twins.err
    error = json.loads(sh("show", "nnnnnn", "--json").err)["error"]
    assert error["code"] == "not_found"


def test_showing_nothing_is_an_error(sh: Shell) -> None:
    done = sh("show")
    assert done.status == 3
    assert "No conversation to continue in this directory" in done.err
    assert json.loads(sh("convo", "ls", "--json").out) == []


def test_without_an_id_it_is_the_conversation_of_this_directory(sh: Shell, tmp_path: Path) -> None:
    with bough.connect(sh.db) as store:
        store.session("cli:here", directory=str(tmp_path)).save_turn([user("here?"), assistant("Here.")])
        store.session("cli:there", directory="/there").save_turn([user("there?"), assistant("There.")])
    for words in (["show"], ["show", "--here"]):
        assert sh(*words).out.splitlines()[-1] == "Here."
    assert "There." in sh("show", "there").out
    assert sh("show", "--here", "there").status == 2
    tree = sh("tree", "--here").out
    assert "here?" in tree
    assert "there?" not in tree
    assert "← here, cli:here" in sh("tree").out
