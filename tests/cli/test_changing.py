"""Commands that change: delete, restore, clean, title, label, fork. Nothing is lost that was not meant to be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import bough
from bough import Save, user
from tests.cli.bough_process import Shell


def messages(sh: Shell) -> set[str]:
    with bough.connect(sh.db) as store:
        return {node.id for node in store.list_messages()}


@pytest.mark.parametrize("words", [("conversation", "delete"), ("convo", "rm"), ("delete",)])
def test_a_message_that_others_follow_is_refused_and_cascade_is_named(
    kept: Shell, ids: dict[str, str], words: tuple[str, ...]
) -> None:
    before = messages(kept)
    done = kept(*words, ids["metres"])
    assert (done.status, done.out) == (5, "")
    assert "--cascade" in done.err
    assert "recursive" not in done.err
    assert messages(kept) == before


def test_what_is_deleted_says_how_it_comes_back_and_does(kept: Shell, ids: dict[str, str]) -> None:
    before = messages(kept)
    done = kept("conversation", "delete", "--cascade", ids["metres"])
    assert done.status == 0
    assert f"bough restore {ids['metres']}" in done.out
    assert "4 messages that followed went with it." in done.out
    assert len(before - messages(kept)) == 5
    listed = kept("restore")
    assert ids["metres"] in listed.out
    assert "bough restore NAME" in listed.err
    (entry,) = json.loads(kept("restore", "--json").out)
    assert entry["messages"] == 5
    assert kept("convo", "restore", ids["metres"]).out == f"Restored {ids['metres']}: 5 messages.\n"
    assert messages(kept) == before


def test_a_leaf_and_a_session_are_deleted_by_their_names(kept: Shell, ids: dict[str, str]) -> None:
    gone = json.loads(kept("delete", ids["loose"][:5], "telegram:42", "--json").out)
    assert gone == {"messages": [ids["loose"]], "sessions": ["telegram:42"], "cascade": False}
    assert not messages(kept) & {ids["loose"], ids["fine"], ids["hostile"]}
    assert json.loads(kept("restore", "telegram:42", "--json").out)[0]["messages"][0] == ids["hostile"]


def test_what_was_deleted_comes_back_by_the_beginning_of_an_id_or_a_short_name(
    kept: Shell, ids: dict[str, str]
) -> None:
    kept("delete", ids["loose"])
    kept("delete", "notes")
    done = kept("restore", ids["loose"][:5], "notes", "nowhere")
    assert done.status == 3
    assert done.out == f"Restored {ids['loose'][:5]}: 1 message.\nRestored notes: 2 messages.\n"
    assert done.err == "bough: Nothing in the trash is called 'nowhere'.\n"


def test_if_one_of_several_is_not_there_none_is_deleted(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("delete", ids["loose"], "nnnnnn")
    assert done.status == 3
    assert "Nothing was deleted." in done.err
    assert ids["loose"] in messages(kept)
    assert kept("restore", "nnnnnn").status == 3
    assert kept("delete").status == 2


def test_cleaning_shows_then_asks_then_trashes(kept: Shell, ids: dict[str, str]) -> None:
    unasked = kept("conversations", "clean")
    assert unasked.status == 5
    assert "cli:notes" in unasked.out
    assert "--yes" in unasked.err
    dry = kept("clean", "--dry-run")
    assert (dry.status, dry.out) == (0, unasked.out)
    assert [one["session"] for one in json.loads(kept("clean", "--dry-run", "--json").out)] == ["cli:notes"]
    assert ids["ulan"] in messages(kept)
    done = kept("clean", "-y")
    assert "1 conversation moved to the trash." in done.err
    assert ids["ulan"] not in messages(kept)
    assert ids["metres"] in messages(kept)
    assert kept("clean", "--yes").err == "No conversation has been unused for 30d.\n"
    assert kept("restore", "cli:notes").status == 0


def test_cleaning_takes_what_no_session_knows_too(kept: Shell, ids: dict[str, str]) -> None:
    with bough.connect(kept.db) as store:
        forked = store.save_messages([Save(user("in a fork"))])[0]
        store.fork(forked, "cli:forked")
        with suppress(KeyboardInterrupt), store.session("cli:broken").turn("never answered") as turn:
            raise KeyboardInterrupt
        broken = turn.id
    found = json.loads(kept("clean", "-d", "0", "--dry-run", "--json").out)
    assert [one["head"] for one in found if one["session"] is None] == [ids["loose"]]
    assert "outside any session" in kept("clean", "-d", "0", "--dry-run").out
    kept("clean", "-d", "0.1", "--yes")
    assert ids["loose"] not in messages(kept)
    assert {forked, broken} <= messages(kept)
    assert kept("restore", ids["loose"]).out == f"Restored {ids['loose']}: 1 message.\n"


def test_how_old_is_old_comes_from_flags_or_the_configuration(kept: Shell, tmp_path: Path) -> None:
    def found(*words: str) -> set[str]:
        return {one["session"] for one in json.loads(kept("clean", "--dry-run", "--json", *words).out)}

    assert found("--older-than", "4d") == {"cli:notes", "cli:garden", "cli:birches"}
    assert found("-d", "4") == found("--days", "4") == {"cli:notes", "cli:garden", "cli:birches"}
    assert found("--older-than", "1y") == set()
    config = tmp_path / "own.toml"
    config.write_text("[conversation]\nmax_age_days = 3\n")
    assert found("--config", str(config)) == found("-d", "3")
    assert kept("clean", "--older-than", "soon").status == 2


def test_the_trash_is_emptied_only_on_demand(kept: Shell, ids: dict[str, str]) -> None:
    kept("delete", ids["loose"])
    assert json.loads(kept("clean", "--trash", "--json", "--yes").out) == {"found": 0, "removed": 0}
    assert kept("clean", "--trash", "-d", "0").status == 5
    assert "1 entry, with 1 message." in kept("clean", "--trash", "-d", "0", "--dry-run").err
    assert json.loads(kept("clean", "--trash", "-d", "0", "--yes", "--json").out) == {"found": 1, "removed": 1}
    assert kept("restore", ids["loose"]).status == 3


def test_a_title_and_a_label_are_written_and_read(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("title", "garden").out == "Planting oaks\n"
    assert kept("convo", "title", ids["call"], "Oaks", "and ashes").out == "Oaks and ashes\n"
    assert json.loads(kept("title", "cli:garden", "--json").out)["title"] == "Oaks and ashes"
    lost = kept("title", ids["loose"], "x")
    assert lost.status == 3
    assert "bough fork" in lost.err
    assert kept("convo", "label", ids["call"], "a look").out == "a look\n"
    assert kept("label", ids["call"]).out == "a look\n"
    assert json.loads(kept("label", ids["call"], "--remove", "--json").out) == {"id": ids["call"], "label": None}


def test_a_fork_is_a_name_that_stands_at_any_message(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("fork", ids["metres"], "--session", "shorter", "--title", "Plan B")
    assert done.out == "cli:shorter\n"
    assert f"It stands at {ids['metres']}" in done.err
    assert kept("title", "shorter").out == "Plan B\n"
    made = json.loads(kept("fork", "cli:garden", "--json").out)
    assert made["at"] == ids["hornbeam"]
    assert made["session"].startswith("cli:fork:")
    taken = kept("fork", ids["metres"], "--session", "shorter")
    assert taken.status == 6
    assert "already" in taken.err
    assert kept("fork", "nnnnnn").status == 3


def test_a_store_that_cannot_be_written_is_read_and_not_changed(read_only: Shell, ids: dict[str, str]) -> None:
    assert ids["metres"] in read_only("convo", "ls").out
    assert ids["hornbeam"] in read_only("show", "cli:garden").out
    refused = read_only("delete", ids["loose"])
    assert refused.status == 5
    assert "reading only" in refused.err
    assert "• permissions" in read_only("doctor").out


@pytest.fixture
def read_only(kept: Shell, tmp_path: Path) -> Iterator[Shell]:
    """The history, where it cannot be written. Modes mean nothing to root, so root gets a disk that is read-only."""
    disk = tmp_path / "disk"
    disk.mkdir()
    sh = Shell(tmp_path, disk / "chats.db")
    if os.geteuid() != 0:
        shutil.copy(kept.db, sh.db)
        sh.db.chmod(0o400)
        disk.chmod(0o500)
        yield sh
        disk.chmod(0o700)
        return
    if subprocess.call(["mount", "-t", "tmpfs", "tmpfs", str(disk)]) != 0:
        pytest.skip("root may not mount here")
    shutil.copy(kept.db, sh.db)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    yield sh
    subprocess.run(["umount", "-l", str(disk)], check=True)
