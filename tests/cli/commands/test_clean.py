"""`bough clean`: old conversations go to the trash, and old trash is purged, after a confirmation."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import pexpect  # type: ignore[import-untyped]

import bough
from bough import Save, user
from tests.cli.bough_process import Shell
from tests.cli.history import stored_ids
from tests.cli.terminal import spawn


def test_old_conversations_are_listed_then_confirmed_then_trashed(kept: Shell, ids: dict[str, str]) -> None:
    unasked = kept("conversations", "clean")
    assert unasked.status == 5
    assert "cli:notes" in unasked.out
    assert "--yes" in unasked.err
    dry = kept("clean", "--dry-run")
    assert (dry.status, dry.out) == (0, unasked.out)
    assert [one["session"] for one in json.loads(kept("clean", "--dry-run", "--json").out)] == ["cli:notes"]
    assert ids["ulan"] in stored_ids(kept)
    done = kept("clean", "-y")
    assert "1 conversation moved to the trash." in done.err
    assert ids["ulan"] not in stored_ids(kept)
    assert ids["metres"] in stored_ids(kept)
    assert kept("clean", "--yes").err == "No conversation has been unused for 30d.\n"
    assert kept("restore", "cli:notes").status == 0


def test_old_trees_without_a_session_are_trashed_too(kept: Shell, ids: dict[str, str]) -> None:
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
    assert ids["loose"] not in stored_ids(kept)
    assert {forked, broken} <= stored_ids(kept)
    assert kept("restore", ids["loose"]).out == f"Restored {ids['loose']}: 1 message.\n"


def test_old_branches_that_nothing_reaches_are_trashed_too(kept: Shell) -> None:
    def old(words: str, parent: Save | None = None) -> Save:
        return Save(user(words), parent, created_at=1)

    with bough.connect(kept.db) as store:
        root = old("root")
        branch = old("a branch", root)
        saves = [root, old("where the session stands", root), old("labelled", root), branch, old("below it", branch)]
        _, head, labelled, gone, below = store.save_messages(saves)
        store.fork(head, "cli:standing")
        store.label(labelled, "kept")
    assert kept("clean", "-d", "0.1", "--yes").status == 0
    assert {head, labelled} <= stored_ids(kept)
    with bough.connect(kept.db) as store:
        assert store.unreachable() == []
        assert {gone, below} <= set(store.restore(gone))


def test_a_tree_with_a_pinned_message_is_left_alone(kept: Shell, ids: dict[str, str]) -> None:
    with bough.connect(kept.db) as store:
        store.pin(ids["loose"])
    assert kept("clean", "-d", "0.1", "--yes").status == 0
    assert ids["loose"] in stored_ids(kept)


def test_the_age_comes_from_options_or_the_configuration(kept: Shell, tmp_path: Path) -> None:
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


def test_nothing_changes_without_a_confirmation(kept: Shell, ids: dict[str, str]) -> None:
    child = spawn(kept, "clean")
    child.expect("cli:notes")
    child.expect(re.escape("Move 1 conversation to the trash? [y/N]"))
    child.sendline("n")
    child.expect("Nothing was changed.")
    child.expect(pexpect.EOF)
    assert ids["capital"] in kept("convo", "ls").out
    child = spawn(kept, "clean")
    child.expect(re.escape("[y/N]"))
    child.sendline("y")
    child.expect("1 conversation moved to the trash.")
    child.expect(pexpect.EOF)
    assert ids["capital"] not in kept("convo", "ls").out


def test_ctrl_c_ends_a_question_without_a_traceback(kept: Shell) -> None:
    child = spawn(kept, "clean")
    child.expect(re.escape("[y/N]"))
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in str(child.before)


def test_only_the_sessions_of_a_channel_are_cleaned(kept: Shell) -> None:
    assert kept("clean", "-d", "0", "--channel", "irc").err.startswith("No conversation has been unused")
    found = json.loads(kept("clean", "-d", "0", "--channel", "telegram", "--json", "--yes").out)
    assert [one["session"] for one in found] == ["telegram:42"]
    assert kept("clean", "--trash", "--channel", "telegram").status == 2
