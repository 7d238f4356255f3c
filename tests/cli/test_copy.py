"""`bough db copy`: between files and servers, again and again."""

from __future__ import annotations

import json

import apsw

import bough
from tests.cli.bough_process import Shell


def test_a_store_is_copied_to_a_server_and_back_and_verified(kept: Shell, postgres: str, namespace: str) -> None:
    there = kept("db", "copy", "chats.db", postgres, "--target-namespace", namespace)
    assert (there.status, there.out) == (0, "")
    assert "Verified." in there.err
    back = kept("db", "copy", postgres, "again.db", "--source-namespace", namespace, "--json")
    assert back.status == 0
    with bough.connect(kept.db) as before, bough.connect(kept.directory / "again.db") as after:
        assert list(after.list_messages()) == list(before.list_messages())
        assert json.loads(back.out)["messages"] == len(list(before.list_messages()))


def test_copying_again_brings_only_what_is_new(kept: Shell) -> None:
    assert kept("db", "copy", "chats.db", "copy.db").status == 0
    with bough.connect(kept.db) as store:
        store.session("cli:new").save_turn([bough.user("new"), bough.assistant("newer")])
    assert json.loads(kept("db", "copy", "chats.db", "copy.db", "--json").out)["messages"] == 2


def test_a_copy_that_was_damaged_is_not_called_verified(kept: Shell) -> None:
    with bough.connect(kept.db) as store:
        store.session("cli:new").save_turn([bough.user("oak " * 10_000), bough.assistant("long")])
    assert kept("db", "copy", "chats.db", "copy.db").status == 0
    connection = apsw.Connection(str(kept.directory / "copy.db"))
    connection.execute("UPDATE blob_bytes SET bytes = x'00'")
    connection.close()
    again = kept("db", "copy", "chats.db", "copy.db")
    assert again.status != 0
    assert "The copy is not sound" in again.err
    assert "Verified" not in again.err


def test_a_source_that_is_not_there_makes_no_file(sh: Shell) -> None:
    done = sh("db", "copy", "nowhere.db", "copy.db")
    assert done.status != 0
    assert "no store at 'nowhere.db'" in done.err
    assert not (sh.directory / "copy.db").exists()


def test_a_target_with_a_history_of_its_own_is_refused(kept: Shell) -> None:
    with bough.connect(kept.directory / "own.db") as store:
        store.session("cli:own").save_turn([bough.user("mine"), bough.assistant("own")])
    done = kept("db", "copy", "chats.db", "own.db")
    assert done.status != 0
    assert "history of its own" in done.err
